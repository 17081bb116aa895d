package wirelab.service.petclinic.entity;

import jakarta.persistence.Column;
import jakarta.persistence.Convert;
import jakarta.persistence.Entity;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;
import java.time.LocalDate;

/** A visit of a pet. */
@Entity
@Table(name = "visits")
public class Visit extends BaseEntity {
    @NotNull
    @Convert(converter = IsoDate.class)
    @Column(name = "visit_date")
    public LocalDate date;

    @NotNull
    @Size(min = 1, max = 255)
    @Pattern(regexp = Limits.TEXT)
    @Column(name = "description")
    public String description;

    @ManyToOne
    @JoinColumn(name = "pet_id")
    public Pet pet;
}
