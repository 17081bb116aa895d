package wirelab.service.petclinic.message;

import java.util.List;
import wirelab.service.petclinic.entity.Owner;
import wirelab.service.petclinic.entity.Pet;
import wirelab.service.petclinic.entity.PetType;
import wirelab.service.petclinic.entity.Specialty;
import wirelab.service.petclinic.entity.Vet;
import wirelab.service.petclinic.entity.Visit;

/**
 * Messages of one codec: bodies of requests to entities, which are checked against the contract's limits, and
 * entities to the objects that the codec writes. Threads share it.
 */
public interface Messages {
    /** The media type. */
    String mediaType();

    /** Bytes of a reply. */
    byte[] write(Object reply);

    /** Bytes of an error; {@code className} says of which kind, in JSON. */
    byte[] error(String className, String text);

    /** The request of an operation as its codec has it; throws {@link Malformed} where the bytes are none. */
    Object read(String operation, byte[] body) throws Malformed;

    /** A reply of an operation as its clients read it; throws {@link Malformed} where the bytes are none. */
    Object readReply(String operation, byte[] body) throws Malformed;

    /** Of a request that {@link #read} has returned. */
    PetType petType(Object request);

    /** As above. */
    Specialty specialty(Object request);

    /** As above. */
    Vet vet(Object request);

    /** As above. */
    Owner owner(Object request);

    /** As above. */
    Pet pet(Object request);

    /** As above. */
    Visit visit(Object request);

    /** A reply. */
    Object reply(PetType row);

    /** A reply. */
    Object reply(Specialty row);

    /** A reply. */
    Object reply(Vet row);

    /** A reply. */
    Object reply(Owner row);

    /** A reply. */
    Object reply(Pet row);

    /** A reply. */
    Object reply(Visit row);

    /** A list. */
    Object petTypes(List<PetType> rows);

    /** A list. */
    Object specialties(List<Specialty> rows);

    /** A list. */
    Object vets(List<Vet> rows);

    /** A list. */
    Object owners(List<Owner> rows);

    /** A list. */
    Object pets(List<Pet> rows);

    /** A list. */
    Object visits(List<Visit> rows);

    /** Bytes that are not a message. */
    final class Malformed extends Exception {
        private static final long serialVersionUID = 1L;

        Malformed(String message) {
            super(message);
        }
    }
}
