package wirelab.service.petclinic.message;

import com.google.protobuf.Message;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import wirelab.petclinic.v1.AddOwnerRequest;
import wirelab.petclinic.v1.AddPetRequest;
import wirelab.petclinic.v1.AddPetToOwnerRequest;
import wirelab.petclinic.v1.AddPetTypeRequest;
import wirelab.petclinic.v1.AddSpecialtyRequest;
import wirelab.petclinic.v1.AddVetRequest;
import wirelab.petclinic.v1.AddVisitRequest;
import wirelab.petclinic.v1.AddVisitToOwnerRequest;
import wirelab.petclinic.v1.Owners;
import wirelab.petclinic.v1.PetTypes;
import wirelab.petclinic.v1.Pets;
import wirelab.petclinic.v1.Specialties;
import wirelab.petclinic.v1.UpdateOwnerRequest;
import wirelab.petclinic.v1.UpdatePetRequest;
import wirelab.petclinic.v1.UpdatePetTypeRequest;
import wirelab.petclinic.v1.UpdateSpecialtyRequest;
import wirelab.petclinic.v1.UpdateVetRequest;
import wirelab.petclinic.v1.UpdateVisitRequest;
import wirelab.petclinic.v1.Vets;
import wirelab.petclinic.v1.Visits;
import wirelab.service.petclinic.entity.Owner;
import wirelab.service.petclinic.entity.Pet;
import wirelab.service.petclinic.entity.PetType;
import wirelab.service.petclinic.entity.Specialty;
import wirelab.service.petclinic.entity.Vet;
import wirelab.service.petclinic.entity.Visit;
import wirelab.service.protobuf.CountedItems;
import wirelab.service.protobuf.ErrorMessage;

/** Protocol Buffers by their own library: requests and replies are the generated messages. */
abstract class ProtobufMessages implements Messages {
    /** The messages that come as bodies. */
    private static final Map<String, Message> REQUESTS = Map.ofEntries(
            Map.entry("AddPetType", AddPetTypeRequest.getDefaultInstance()),
            Map.entry("UpdatePetType", UpdatePetTypeRequest.getDefaultInstance()),
            Map.entry("AddSpecialty", AddSpecialtyRequest.getDefaultInstance()),
            Map.entry("UpdateSpecialty", UpdateSpecialtyRequest.getDefaultInstance()),
            Map.entry("AddVet", AddVetRequest.getDefaultInstance()),
            Map.entry("UpdateVet", UpdateVetRequest.getDefaultInstance()),
            Map.entry("AddOwner", AddOwnerRequest.getDefaultInstance()),
            Map.entry("UpdateOwner", UpdateOwnerRequest.getDefaultInstance()),
            Map.entry("AddPet", AddPetRequest.getDefaultInstance()),
            Map.entry("UpdatePet", UpdatePetRequest.getDefaultInstance()),
            Map.entry("AddPetToOwner", AddPetToOwnerRequest.getDefaultInstance()),
            Map.entry("AddVisit", AddVisitRequest.getDefaultInstance()),
            Map.entry("UpdateVisit", UpdateVisitRequest.getDefaultInstance()),
            Map.entry("AddVisitToOwner", AddVisitToOwnerRequest.getDefaultInstance()));

    private static Message reply(String operation) {
        return switch (operation) {
            case "ListPetTypes" -> PetTypes.getDefaultInstance();
            case "GetPetType", "AddPetType" -> wirelab.petclinic.v1.PetType.getDefaultInstance();
            case "ListSpecialties" -> Specialties.getDefaultInstance();
            case "GetSpecialty", "AddSpecialty" -> wirelab.petclinic.v1.Specialty.getDefaultInstance();
            case "ListVets" -> Vets.getDefaultInstance();
            case "GetVet", "AddVet" -> wirelab.petclinic.v1.Vet.getDefaultInstance();
            case "ListOwners" -> Owners.getDefaultInstance();
            case "GetOwner", "AddOwner" -> wirelab.petclinic.v1.Owner.getDefaultInstance();
            case "ListPets" -> Pets.getDefaultInstance();
            case "GetPet", "AddPet", "AddPetToOwner", "GetOwnersPet" ->
                    wirelab.petclinic.v1.Pet.getDefaultInstance();
            case "ListVisits" -> Visits.getDefaultInstance();
            case "GetVisit", "AddVisit", "AddVisitToOwner" -> wirelab.petclinic.v1.Visit.getDefaultInstance();
            default -> throw new IllegalArgumentException(operation + " has no reply");
        };
    }

    @Override
    public final String mediaType() {
        return "application/x-protobuf";
    }

    @Override
    public final Object read(String operation, byte[] body) throws Malformed {
        return parse(REQUESTS.get(operation), body);
    }

    @Override
    public final Object readReply(String operation, byte[] body) throws Malformed {
        return parse(reply(operation), body);
    }

    private static Message parse(Message prototype, byte[] body) throws Malformed {
        try {
            CountedItems.check(prototype.getDescriptorForType(), body);
            return prototype.getParserForType().parseFrom(body);
        } catch (IOException error) {
            throw new Malformed(error.getMessage());
        }
    }

    @Override
    public final byte[] write(Object reply) {
        return ((Message) reply).toByteArray();
    }

    abstract wirelab.petclinic.v1.PetType message(PetType row);

    abstract wirelab.petclinic.v1.Specialty message(Specialty row);

    abstract wirelab.petclinic.v1.Vet message(Vet row);

    abstract wirelab.petclinic.v1.Owner message(Owner row);

    abstract wirelab.petclinic.v1.Pet message(Pet row);

    abstract wirelab.petclinic.v1.Visit message(Visit row);

    @Override
    public final Object reply(PetType row) {
        return message(row);
    }

    @Override
    public final Object reply(Specialty row) {
        return message(row);
    }

    @Override
    public final Object reply(Vet row) {
        return message(row);
    }

    @Override
    public final Object reply(Owner row) {
        return message(row);
    }

    @Override
    public final Object reply(Pet row) {
        return message(row);
    }

    @Override
    public final Object reply(Visit row) {
        return message(row);
    }

    @Override
    public final Object petTypes(List<PetType> rows) {
        PetTypes.Builder all = PetTypes.newBuilder();
        rows.forEach(row -> all.addPetTypes(message(row)));
        return all.build();
    }

    @Override
    public final Object specialties(List<Specialty> rows) {
        Specialties.Builder all = Specialties.newBuilder();
        rows.forEach(row -> all.addSpecialties(message(row)));
        return all.build();
    }

    @Override
    public final Object vets(List<Vet> rows) {
        Vets.Builder all = Vets.newBuilder();
        rows.forEach(row -> all.addVets(message(row)));
        return all.build();
    }

    @Override
    public final Object owners(List<Owner> rows) {
        Owners.Builder all = Owners.newBuilder();
        rows.forEach(row -> all.addOwners(message(row)));
        return all.build();
    }

    @Override
    public final Object pets(List<Pet> rows) {
        Pets.Builder all = Pets.newBuilder();
        rows.forEach(row -> all.addPets(message(row)));
        return all.build();
    }

    @Override
    public final Object visits(List<Visit> rows) {
        Visits.Builder all = Visits.newBuilder();
        rows.forEach(row -> all.addVisits(message(row)));
        return all.build();
    }

    @Override
    public final byte[] error(String className, String text) {
        return ErrorMessage.of(text);
    }
}
