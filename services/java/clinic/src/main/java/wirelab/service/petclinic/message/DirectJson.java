package wirelab.service.petclinic.message;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import wirelab.service.petclinic.ClinicError;
import wirelab.service.petclinic.entity.Owner;
import wirelab.service.petclinic.entity.Pet;
import wirelab.service.petclinic.entity.PetType;
import wirelab.service.petclinic.entity.Specialty;
import wirelab.service.petclinic.entity.Vet;
import wirelab.service.petclinic.entity.Visit;

/** JSON of entities directly. Replies are written at once: rows may change when their transaction is over. */
final class DirectJson implements Messages {
    private static final ObjectMapper MAPPER = EntityJson.mapper();

    private final Limiter limiter;

    DirectJson(Limiter limiter) {
        this.limiter = limiter;
    }

    @Override
    public String mediaType() {
        return Json.MEDIA_TYPE;
    }

    @Override
    public byte[] write(Object reply) {
        return (byte[]) reply;
    }

    @Override
    public byte[] error(String className, String text) {
        return Json.error(className, text);
    }

    @Override
    public Object read(String operation, byte[] body) throws Malformed {
        return switch (operation) {
            case "AddPetType" -> removeId(Json.read(MAPPER, body, PetType.class));
            case "UpdatePetType" -> Json.read(MAPPER, body, PetType.class);
            case "AddSpecialty", "UpdateSpecialty" -> Json.read(MAPPER, body, Specialty.class);
            case "AddVet", "UpdateVet" -> Json.read(MAPPER, body, Vet.class);
            case "AddOwner", "UpdateOwner" -> Json.read(MAPPER, body, Owner.class);
            case "AddPet", "UpdatePet", "AddPetToOwner" -> Json.read(MAPPER, body, Pet.class);
            default -> Json.read(MAPPER, body, Visit.class);
        };
    }

    private static PetType removeId(PetType type) {
        if (Fields.id(type.id) != 0) {
            throw ClinicError.invalid();
        }
        return type;
    }

    @Override
    public Object readReply(String operation, byte[] body) throws Malformed {
        return Json.readReply(operation, body);
    }

    @Override
    public PetType petType(Object request) {
        return limiter.check(EntityJson.complete((PetType) request));
    }

    @Override
    public Specialty specialty(Object request) {
        return limiter.check(EntityJson.complete((Specialty) request));
    }

    @Override
    public Vet vet(Object request) {
        return limiter.check(EntityJson.complete((Vet) request));
    }

    @Override
    public Owner owner(Object request) {
        return limiter.check(EntityJson.complete((Owner) request));
    }

    @Override
    public Pet pet(Object request) {
        return limiter.check(EntityJson.complete((Pet) request));
    }

    @Override
    public Visit visit(Object request) {
        return limiter.check(EntityJson.complete((Visit) request));
    }

    @Override
    public Object reply(PetType row) {
        return Json.write(MAPPER, row);
    }

    @Override
    public Object reply(Specialty row) {
        return Json.write(MAPPER, row);
    }

    @Override
    public Object reply(Vet row) {
        return Json.write(MAPPER, row);
    }

    @Override
    public Object reply(Owner row) {
        return Json.write(MAPPER, row);
    }

    @Override
    public Object reply(Pet row) {
        return Json.write(MAPPER, row);
    }

    @Override
    public Object reply(Visit row) {
        return Json.write(MAPPER, row);
    }

    @Override
    public Object petTypes(List<PetType> rows) {
        return Json.write(MAPPER, rows);
    }

    @Override
    public Object specialties(List<Specialty> rows) {
        return Json.write(MAPPER, rows);
    }

    @Override
    public Object vets(List<Vet> rows) {
        return Json.write(MAPPER, rows);
    }

    @Override
    public Object owners(List<Owner> rows) {
        return Json.write(MAPPER, rows);
    }

    @Override
    public Object pets(List<Pet> rows) {
        return Json.write(MAPPER, rows);
    }

    @Override
    public Object visits(List<Visit> rows) {
        return Json.write(MAPPER, rows);
    }
}
