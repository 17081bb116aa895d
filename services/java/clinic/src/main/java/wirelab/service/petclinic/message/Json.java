package wirelab.service.petclinic.message;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.CharacterCodingException;
import wirelab.service.contract.message.StrictJackson;
import wirelab.service.petclinic.message.Dtos.ErrorInfo;
import wirelab.service.petclinic.message.Dtos.OwnerDto;
import wirelab.service.petclinic.message.Dtos.PetDto;
import wirelab.service.petclinic.message.Dtos.PetTypeDto;
import wirelab.service.petclinic.message.Dtos.SpecialtyDto;
import wirelab.service.petclinic.message.Dtos.VetDto;
import wirelab.service.petclinic.message.Dtos.VisitDto;

/** Messages in JSON. */
final class Json {
    static final String MEDIA_TYPE = "application/json";

    static final ObjectMapper MAPPER = StrictJackson.builder(new JsonFactory()).build();

    private Json() {}

    static <T> T read(byte[] body, Class<T> message) throws Messages.Malformed {
        return read(MAPPER, body, message);
    }

    static <T> T read(ObjectMapper mapper, byte[] body, Class<T> message) throws Messages.Malformed {
        try {
            T read = mapper.readValue(StrictJackson.text(body), message);
            if (read == null) {
                throw new Messages.Malformed("null is not an object");
            }
            return read;
        } catch (CharacterCodingException error) {
            throw new Messages.Malformed("the body is not UTF-8");
        } catch (JsonProcessingException error) {
            throw new Messages.Malformed(error.getOriginalMessage());
        }
    }

    static Object readReply(String operation, byte[] body) throws Messages.Malformed {
        Class<?> reply = switch (operation) {
            case "ListPetTypes" -> PetTypeDto[].class;
            case "GetPetType", "AddPetType" -> PetTypeDto.class;
            case "ListSpecialties" -> SpecialtyDto[].class;
            case "GetSpecialty", "AddSpecialty" -> SpecialtyDto.class;
            case "ListVets" -> VetDto[].class;
            case "GetVet", "AddVet" -> VetDto.class;
            case "ListOwners" -> OwnerDto[].class;
            case "GetOwner", "AddOwner" -> OwnerDto.class;
            case "ListPets" -> PetDto[].class;
            case "GetPet", "AddPet", "AddPetToOwner", "GetOwnersPet" -> PetDto.class;
            case "ListVisits" -> VisitDto[].class;
            case "GetVisit", "AddVisit", "AddVisitToOwner" -> VisitDto.class;
            default -> throw new IllegalArgumentException(operation + " has no reply");
        };
        return read(body, reply);
    }

    static byte[] write(Object reply) {
        return write(MAPPER, reply);
    }

    static byte[] write(ObjectMapper mapper, Object reply) {
        try {
            return mapper.writeValueAsBytes(reply);
        } catch (JsonProcessingException error) {
            throw new IllegalStateException("a reply that cannot be written", error);
        }
    }

    static byte[] error(String className, String text) {
        return write(new ErrorInfo(className, text));
    }
}
