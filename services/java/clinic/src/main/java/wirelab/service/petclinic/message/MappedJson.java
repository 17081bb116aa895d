package wirelab.service.petclinic.message;

import java.util.List;
import wirelab.service.petclinic.ClinicError;
import wirelab.service.petclinic.entity.Owner;
import wirelab.service.petclinic.entity.Pet;
import wirelab.service.petclinic.entity.PetType;
import wirelab.service.petclinic.entity.Specialty;
import wirelab.service.petclinic.entity.Vet;
import wirelab.service.petclinic.entity.Visit;
import wirelab.service.petclinic.message.Dtos.NameFields;
import wirelab.service.petclinic.message.Dtos.OwnerFields;
import wirelab.service.petclinic.message.Dtos.PetFields;
import wirelab.service.petclinic.message.Dtos.VetFields;
import wirelab.service.petclinic.message.Dtos.VisitFields;

/** JSON through data transfer objects. */
final class MappedJson implements Messages {
    private static final EntityMapper MAPPER = EntityMapper.INSTANCE;

    private final Limiter limiter;

    MappedJson(Limiter limiter) {
        this.limiter = limiter;
    }

    @Override
    public String mediaType() {
        return Json.MEDIA_TYPE;
    }

    @Override
    public byte[] write(Object reply) {
        return Json.write(reply);
    }

    @Override
    public byte[] error(String className, String text) {
        return Json.error(className, text);
    }

    @Override
    public Object read(String operation, byte[] body) throws Malformed {
        return switch (operation) {
            case "AddPetType" -> removeId(Json.read(body, NameFields.class));
            case "UpdatePetType", "AddSpecialty", "UpdateSpecialty" -> Json.read(body, NameFields.class);
            case "AddVet", "UpdateVet" -> Json.read(body, VetFields.class);
            case "AddOwner", "UpdateOwner" -> Json.read(body, OwnerFields.class);
            case "AddPet", "UpdatePet", "AddPetToOwner" -> Json.read(body, PetFields.class);
            default -> Json.read(body, VisitFields.class);
        };
    }

    private static NameFields removeId(NameFields fields) {
        if (fields.id() != 0) {
            throw ClinicError.invalid();
        }
        return fields;
    }

    @Override
    public Object readReply(String operation, byte[] body) throws Malformed {
        return Json.readReply(operation, body);
    }

    @Override
    public PetType petType(Object request) {
        return MAPPER.petType(limiter.check((NameFields) request));
    }

    @Override
    public Specialty specialty(Object request) {
        return MAPPER.specialty(limiter.check((NameFields) request));
    }

    @Override
    public Vet vet(Object request) {
        return MAPPER.vet(limiter.check((VetFields) request));
    }

    @Override
    public Owner owner(Object request) {
        return MAPPER.owner(limiter.check((OwnerFields) request));
    }

    @Override
    public Pet pet(Object request) {
        return MAPPER.pet(limiter.check((PetFields) request));
    }

    @Override
    public Visit visit(Object request) {
        return MAPPER.visit(limiter.check((VisitFields) request));
    }

    @Override
    public Object reply(PetType row) {
        return MAPPER.dto(row);
    }

    @Override
    public Object reply(Specialty row) {
        return MAPPER.dto(row);
    }

    @Override
    public Object reply(Vet row) {
        return MAPPER.dto(row);
    }

    @Override
    public Object reply(Owner row) {
        return MAPPER.dto(row);
    }

    @Override
    public Object reply(Pet row) {
        return MAPPER.dto(row);
    }

    @Override
    public Object reply(Visit row) {
        return MAPPER.dto(row);
    }

    @Override
    public Object petTypes(List<PetType> rows) {
        return MAPPER.petTypes(rows);
    }

    @Override
    public Object specialties(List<Specialty> rows) {
        return MAPPER.specialties(rows);
    }

    @Override
    public Object vets(List<Vet> rows) {
        return MAPPER.vets(rows);
    }

    @Override
    public Object owners(List<Owner> rows) {
        return MAPPER.owners(rows);
    }

    @Override
    public Object pets(List<Pet> rows) {
        return MAPPER.pets(rows);
    }

    @Override
    public Object visits(List<Visit> rows) {
        return MAPPER.visits(rows);
    }
}
