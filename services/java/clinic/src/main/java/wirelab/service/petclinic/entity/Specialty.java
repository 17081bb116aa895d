package wirelab.service.petclinic.entity;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;

/** What a vet may be trained in. */
@Entity
@Table(name = "specialties")
public class Specialty {
    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    public Integer id;

    @NotNull
    @Size(min = 1, max = 80)
    @Column(name = "name")
    public String name;

    /** Without fields. */
    public Specialty() {}

    /** With these fields. */
    public Specialty(Integer id, String name) {
        this.id = id;
        this.name = name;
    }
}
