package wirelab.service.petclinic.entity;

import jakarta.persistence.Entity;
import jakarta.persistence.Table;

/** A type of pets. */
@Entity
@Table(name = "pettypes")
public class PetType extends NamedEntity {
    /** Without fields. */
    public PetType() {}

    /** With these fields. */
    public PetType(Integer id, String name) {
        this.id = id;
        this.name = name;
    }
}
