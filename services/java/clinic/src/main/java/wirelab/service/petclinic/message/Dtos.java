package wirelab.service.petclinic.message;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;
import java.util.List;
import wirelab.service.petclinic.entity.Limits;

/** Data transfer objects: the messages of the contract as JSON has them. Requests come with their limits. */
public final class Dtos {
    private Dtos() {}

    /** A reply: a type of pets. */
    @JsonPropertyOrder({"id", "name"})
    public record PetTypeDto(int id, String name) {}

    /** A reply: a specialty. */
    @JsonPropertyOrder({"id", "name"})
    public record SpecialtyDto(int id, String name) {}

    /** A reply: a vet. */
    @JsonPropertyOrder({"id", "firstName", "lastName", "specialties"})
    public record VetDto(int id, String firstName, String lastName, List<SpecialtyDto> specialties) {}

    /** A reply: a visit. */
    @JsonPropertyOrder({"id", "date", "description", "petId"})
    public record VisitDto(int id, String date, String description, int petId) {}

    /** A reply: a pet. */
    @JsonPropertyOrder({"id", "name", "birthDate", "type", "ownerId", "visits"})
    public record PetDto(int id, String name, String birthDate, PetTypeDto type, int ownerId, List<VisitDto> visits) {}

    /** A reply: an owner. */
    @JsonPropertyOrder({"id", "firstName", "lastName", "address", "city", "telephone", "pets"})
    public record OwnerDto(
            int id, String firstName, String lastName, String address, String city, String telephone,
            List<PetDto> pets) {}

    /** An error. */
    @JsonPropertyOrder({"className", "exMessage"})
    public record ErrorInfo(String className, String exMessage) {}

    /** A row that a request names. Numbers that are absent or null are 0. */
    public record Named(Integer id) {
        public Named {
            id = Fields.id(id);
        }
    }

    /** A request: a type or specialty. */
    public record NameFields(
            Integer id, @NotNull @Size(min = 1, max = 80) @Pattern(regexp = Limits.TEXT) String name) {
        public NameFields {
            id = Fields.id(id);
        }
    }

    /** A request: a vet. */
    public record VetFields(
            @NotNull @Pattern(regexp = Limits.PERSON) String firstName,
            @NotNull @Pattern(regexp = Limits.PERSON) String lastName,
            List<Named> specialties) {}

    /** A request: an owner. */
    public record OwnerFields(
            @NotNull @Pattern(regexp = Limits.PERSON) String firstName,
            @NotNull @Pattern(regexp = Limits.PERSON) String lastName,
            @NotNull @Size(min = 1, max = 255) @Pattern(regexp = Limits.TEXT) String address,
            @NotNull @Size(min = 1, max = 80) @Pattern(regexp = Limits.TEXT) String city,
            @NotNull @Pattern(regexp = Limits.TELEPHONE) String telephone) {}

    /** A request: a pet. The date is checked when it is parsed. */
    public record PetFields(
            @NotNull @Size(min = 1, max = 30) @Pattern(regexp = Limits.TEXT) String name,
            @NotNull String birthDate, Named type, Integer ownerId) {
        public PetFields {
            ownerId = Fields.id(ownerId);
        }
    }

    /** A request: a visit. The date is checked when it is parsed. */
    public record VisitFields(
            @NotNull String date,
            @NotNull @Size(min = 1, max = 255) @Pattern(regexp = Limits.TEXT) String description,
            Integer petId) {
        public VisitFields {
            petId = Fields.id(petId);
        }
    }
}
