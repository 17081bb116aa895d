package wirelab.service.petclinic.entity;

import jakarta.persistence.Column;
import jakarta.persistence.MappedSuperclass;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;

/** A row with a name. */
@MappedSuperclass
public abstract class NamedEntity extends BaseEntity {
    @NotNull
    @Size(min = 1, max = 80)
    @Pattern(regexp = Limits.TEXT)
    @Column(name = "name")
    public String name;
}
