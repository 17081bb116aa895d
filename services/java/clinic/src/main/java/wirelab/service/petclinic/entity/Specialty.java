package wirelab.service.petclinic.entity;

import jakarta.persistence.Entity;
import jakarta.persistence.Table;

/** What a vet may be trained in. */
@Entity
@Table(name = "specialties")
public class Specialty extends NamedEntity {
    /** Without fields. */
    public Specialty() {}

    /** With these fields. */
    public Specialty(Integer id, String name) {
        this.id = id;
        this.name = name;
    }
}
