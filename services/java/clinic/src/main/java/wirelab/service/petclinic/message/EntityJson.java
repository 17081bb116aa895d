package wirelab.service.petclinic.message;

import static wirelab.service.petclinic.message.Fields.day;
import static wirelab.service.petclinic.message.Fields.id;
import static wirelab.service.petclinic.message.Fields.text;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import com.fasterxml.jackson.databind.util.StdConverter;
import java.time.LocalDate;
import java.util.List;
import java.util.Set;
import wirelab.service.petclinic.entity.IsoDate;
import wirelab.service.petclinic.entity.Owner;
import wirelab.service.petclinic.entity.Pet;
import wirelab.service.petclinic.entity.PetType;
import wirelab.service.petclinic.entity.Specialty;
import wirelab.service.petclinic.entity.Vet;
import wirelab.service.petclinic.entity.Visit;

/** Jackson's annotations of entities, which are persistence's alone, and what a request leaves out. */
final class EntityJson {
    private EntityJson() {}

    static ObjectMapper mapper() {
        return Json.MAPPER.copy()
                .addMixIn(Owner.class, OwnerJson.class)
                .addMixIn(Pet.class, PetJson.class)
                .addMixIn(Vet.class, VetJson.class)
                .addMixIn(Visit.class, VisitJson.class);
    }

    @JsonPropertyOrder({"id", "firstName", "lastName", "address", "city", "telephone", "pets"})
    private abstract static class OwnerJson {
        @JsonProperty(access = JsonProperty.Access.READ_ONLY)
        @JsonSerialize(converter = PetsInOrder.class)
        public Set<Pet> pets;
    }

    @JsonPropertyOrder({"id", "name", "birthDate", "type", "ownerId", "visits"})
    private abstract static class PetJson {
        @JsonSerialize(using = ToStringSerializer.class)
        @JsonDeserialize(converter = Day.class)
        public LocalDate birthDate;

        @JsonProperty("ownerId")
        @JsonSerialize(converter = OwnerToId.class)
        @JsonDeserialize(converter = IdToOwner.class)
        public Owner owner;

        @JsonProperty(access = JsonProperty.Access.READ_ONLY)
        @JsonSerialize(converter = VisitsInOrder.class)
        public Set<Visit> visits;
    }

    @JsonPropertyOrder({"id", "firstName", "lastName", "specialties"})
    private abstract static class VetJson {
        @JsonSerialize(converter = SpecialtiesInOrder.class)
        public Set<Specialty> specialties;
    }

    @JsonPropertyOrder({"id", "date", "description", "petId"})
    private abstract static class VisitJson {
        @JsonSerialize(using = ToStringSerializer.class)
        @JsonDeserialize(converter = Day.class)
        public LocalDate date;

        @JsonProperty("petId")
        @JsonSerialize(converter = PetToId.class)
        @JsonDeserialize(converter = IdToPet.class)
        public Pet pet;
    }

    private static final class PetsInOrder extends StdConverter<Set<Pet>, List<Pet>> {
        @Override
        public List<Pet> convert(Set<Pet> pets) {
            return Owner.sort(pets);
        }
    }

    private static final class VisitsInOrder extends StdConverter<Set<Visit>, List<Visit>> {
        @Override
        public List<Visit> convert(Set<Visit> visits) {
            return Pet.sort(visits);
        }
    }

    private static final class SpecialtiesInOrder extends StdConverter<Set<Specialty>, List<Specialty>> {
        @Override
        public List<Specialty> convert(Set<Specialty> specialties) {
            return Vet.sort(specialties);
        }
    }

    private static final class Day extends StdConverter<String, LocalDate> {
        @Override
        public LocalDate convert(String text) {
            return IsoDate.parse(text);
        }
    }

    private static final class OwnerToId extends StdConverter<Owner, Integer> {
        @Override
        public Integer convert(Owner owner) {
            return owner.id;
        }
    }

    private static final class IdToOwner extends StdConverter<Integer, Owner> {
        @Override
        public Owner convert(Integer id) {
            Owner owner = new Owner();
            owner.id = id;
            return owner;
        }
    }

    private static final class PetToId extends StdConverter<Pet, Integer> {
        @Override
        public Integer convert(Pet pet) {
            return pet.id;
        }
    }

    private static final class IdToPet extends StdConverter<Integer, Pet> {
        @Override
        public Pet convert(Integer id) {
            Pet pet = new Pet();
            pet.id = id;
            return pet;
        }
    }

    /** A row's id is the store's to give. */
    static PetType complete(PetType request) {
        request.id = null;
        request.name = text(request.name);
        return request;
    }

    static Specialty complete(Specialty request) {
        request.id = null;
        request.name = text(request.name);
        return request;
    }

    static Vet complete(Vet request) {
        request.id = null;
        request.firstName = text(request.firstName);
        request.lastName = text(request.lastName);
        request.specialties.forEach(each -> each.id = id(each.id));
        return request;
    }

    static Owner complete(Owner request) {
        request.id = null;
        request.firstName = text(request.firstName);
        request.lastName = text(request.lastName);
        request.address = text(request.address);
        request.city = text(request.city);
        request.telephone = text(request.telephone);
        return request;
    }

    static Pet complete(Pet request) {
        request.id = null;
        request.name = text(request.name);
        request.birthDate = day(request.birthDate);
        request.type = new PetType(request.type == null ? 0 : id(request.type.id), null);
        if (request.owner == null) {
            request.owner = new IdToOwner().convert(0);
        }
        return request;
    }

    static Visit complete(Visit request) {
        request.id = null;
        request.date = day(request.date);
        request.description = text(request.description);
        if (request.pet == null) {
            request.pet = new IdToPet().convert(0);
        }
        return request;
    }
}
