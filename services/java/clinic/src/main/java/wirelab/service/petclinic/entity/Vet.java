package wirelab.service.petclinic.entity;

import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.JoinTable;
import jakarta.persistence.ManyToMany;
import jakarta.persistence.Table;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** A veterinarian. */
@Entity
@Table(name = "vets")
public class Vet extends Person {
    @ManyToMany(fetch = FetchType.EAGER)
    @JoinTable(
            name = "vet_specialties",
            joinColumns = @JoinColumn(name = "vet_id"),
            inverseJoinColumns = @JoinColumn(name = "specialty_id"))
    public Set<Specialty> specialties = new LinkedHashSet<>();

    /** Its specialties in the order of their names. */
    public List<Specialty> specialtiesInOrder() {
        return sort(specialties);
    }

    /** As {@link #specialtiesInOrder}. */
    public static List<Specialty> sort(Set<Specialty> specialties) {
        return specialties.stream()
                .sorted(Comparator.comparing((Specialty each) -> each.name).thenComparing(each -> each.id))
                .toList();
    }
}
