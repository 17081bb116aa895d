package wirelab.service.petclinic.entity;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;

/** A type of pets. */
@Entity
@Table(name = "pettypes")
public class PetType {
    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    public Integer id;

    @NotNull
    @Size(min = 1, max = 80)
    @Column(name = "name")
    public String name;

    /** Without fields. */
    public PetType() {}

    /** With these fields. */
    public PetType(Integer id, String name) {
        this.id = id;
        this.name = name;
    }
}
