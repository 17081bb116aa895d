package wirelab.service.petclinic.entity;

import jakarta.persistence.Column;
import jakarta.persistence.Convert;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Table;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;
import java.time.LocalDate;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** A pet. */
@Entity
@Table(name = "pets")
public class Pet extends BaseEntity {
    @NotNull
    @Size(min = 1, max = 30)
    @Pattern(regexp = Limits.TEXT)
    @Column(name = "name")
    public String name;

    @NotNull
    @Convert(converter = IsoDate.class)
    @Column(name = "birth_date")
    public LocalDate birthDate;

    @ManyToOne
    @JoinColumn(name = "type_id")
    public PetType type;

    @ManyToOne
    @JoinColumn(name = "owner_id")
    public Owner owner;

    @OneToMany(mappedBy = "pet", fetch = FetchType.EAGER)
    public Set<Visit> visits = new LinkedHashSet<>();

    /** Its visits in the order of their ids. */
    public List<Visit> visitsInOrder() {
        return sort(visits);
    }

    /** As {@link #visitsInOrder}. */
    public static List<Visit> sort(Set<Visit> visits) {
        return visits.stream().sorted(Comparator.comparing(visit -> visit.id)).toList();
    }
}
