package wirelab.service.petclinic.entity;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Table;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** An owner of pets. */
@Entity
@Table(name = "owners")
public class Owner extends Person {
    @NotNull
    @Size(min = 1, max = 255)
    @Pattern(regexp = Limits.TEXT)
    @Column(name = "address")
    public String address;

    @NotNull
    @Size(min = 1, max = 80)
    @Pattern(regexp = Limits.TEXT)
    @Column(name = "city")
    public String city;

    @NotNull
    @Pattern(regexp = Limits.TELEPHONE)
    @Column(name = "telephone")
    public String telephone;

    @OneToMany(mappedBy = "owner", fetch = FetchType.EAGER)
    public Set<Pet> pets = new LinkedHashSet<>();

    /** Its pets in the order of their names, those of one name in the order of their ids. */
    public List<Pet> petsInOrder() {
        return sort(pets);
    }

    /** As {@link #petsInOrder}. */
    public static List<Pet> sort(Set<Pet> pets) {
        return pets.stream()
                .sorted(Comparator.comparing((Pet pet) -> pet.name).thenComparing(pet -> pet.id))
                .toList();
    }
}
