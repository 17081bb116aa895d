package wirelab.service.petclinic.entity;

import jakarta.persistence.Column;
import jakarta.persistence.MappedSuperclass;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;

/** A row with the names of a person. */
@MappedSuperclass
public abstract class Person extends BaseEntity {
    @NotNull
    @Pattern(regexp = Limits.PERSON)
    @Column(name = "first_name")
    public String firstName;

    @NotNull
    @Pattern(regexp = Limits.PERSON)
    @Column(name = "last_name")
    public String lastName;
}
