package wirelab.service.petclinic.grpc;

import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import wirelab.petclinic.v1.AddOwnerRequest;
import wirelab.petclinic.v1.AddPetRequest;
import wirelab.petclinic.v1.AddPetToOwnerRequest;
import wirelab.petclinic.v1.AddPetTypeRequest;
import wirelab.petclinic.v1.AddSpecialtyRequest;
import wirelab.petclinic.v1.AddVetRequest;
import wirelab.petclinic.v1.AddVisitRequest;
import wirelab.petclinic.v1.AddVisitToOwnerRequest;
import wirelab.petclinic.v1.DeleteOwnerRequest;
import wirelab.petclinic.v1.DeletePetRequest;
import wirelab.petclinic.v1.DeletePetTypeRequest;
import wirelab.petclinic.v1.DeleteSpecialtyRequest;
import wirelab.petclinic.v1.DeleteVetRequest;
import wirelab.petclinic.v1.DeleteVisitRequest;
import wirelab.petclinic.v1.Done;
import wirelab.petclinic.v1.GetOwnerRequest;
import wirelab.petclinic.v1.GetOwnersPetRequest;
import wirelab.petclinic.v1.GetPetRequest;
import wirelab.petclinic.v1.GetPetTypeRequest;
import wirelab.petclinic.v1.GetSpecialtyRequest;
import wirelab.petclinic.v1.GetVetRequest;
import wirelab.petclinic.v1.GetVisitRequest;
import wirelab.petclinic.v1.ListOwnersRequest;
import wirelab.petclinic.v1.ListPetTypesRequest;
import wirelab.petclinic.v1.ListPetsRequest;
import wirelab.petclinic.v1.ListSpecialtiesRequest;
import wirelab.petclinic.v1.ListVetsRequest;
import wirelab.petclinic.v1.ListVisitsRequest;
import wirelab.petclinic.v1.Owner;
import wirelab.petclinic.v1.Owners;
import wirelab.petclinic.v1.Pet;
import wirelab.petclinic.v1.PetType;
import wirelab.petclinic.v1.PetTypes;
import wirelab.petclinic.v1.Pets;
import wirelab.petclinic.v1.Specialties;
import wirelab.petclinic.v1.Specialty;
import wirelab.petclinic.v1.UpdateOwnerRequest;
import wirelab.petclinic.v1.UpdatePetRequest;
import wirelab.petclinic.v1.UpdatePetTypeRequest;
import wirelab.petclinic.v1.UpdateSpecialtyRequest;
import wirelab.petclinic.v1.UpdateVetRequest;
import wirelab.petclinic.v1.UpdateVisitRequest;
import wirelab.petclinic.v1.Vet;
import wirelab.petclinic.v1.Vets;
import wirelab.petclinic.v1.Visit;
import wirelab.petclinic.v1.Visits;
import wirelab.service.contract.ApplicationError;
import wirelab.service.contract.Exchange;
import wirelab.service.petclinic.ClinicError;
import wirelab.service.petclinic.ClinicService;
import wirelab.service.petclinic.message.Messages;

/** The operations of {@code petclinic} over the generated classes of Protocol Buffers. */
final class ClinicExchanges {
    private final ClinicService clinic;
    private final Messages messages;
    private final List<Exchange<? extends Message, ? extends Message>> exchanges = new ArrayList<>();

    private ClinicExchanges(ClinicService clinic, Messages messages) {
        this.clinic = clinic;
        this.messages = messages;
        petTypes();
        specialties();
        vets();
        pets();
        visits();
        owners();
    }

    /** Over messages of Protocol Buffers. */
    static List<Exchange<? extends Message, ? extends Message>> of(ClinicService clinic, Messages messages) {
        return List.copyOf(new ClinicExchanges(clinic, messages).exchanges);
    }

    private void petTypes() {
        serve("ListPetTypes", ListPetTypesRequest.class, PetTypes.class, ask -> clinic.listPetTypes(messages::petTypes));
        serve("GetPetType", GetPetTypeRequest.class, PetType.class, ask -> clinic.getPetType(ask.getId(), messages::reply));
        serve("AddPetType", AddPetTypeRequest.class, PetType.class,
                ask -> clinic.addPetType(messages.petType(ask), messages::reply));
        change("UpdatePetType", UpdatePetTypeRequest.class, ask -> clinic.updatePetType(ask.getId(), messages.petType(ask)));
        change("DeletePetType", DeletePetTypeRequest.class, ask -> clinic.deletePetType(ask.getId()));
    }

    private void specialties() {
        serve("ListSpecialties", ListSpecialtiesRequest.class, Specialties.class, ask -> clinic.listSpecialties(messages::specialties));
        serve("GetSpecialty", GetSpecialtyRequest.class, Specialty.class, ask -> clinic.getSpecialty(ask.getId(), messages::reply));
        serve("AddSpecialty", AddSpecialtyRequest.class, Specialty.class,
                ask -> clinic.addSpecialty(messages.specialty(ask), messages::reply));
        change("UpdateSpecialty", UpdateSpecialtyRequest.class, ask -> clinic.updateSpecialty(ask.getId(), messages.specialty(ask)));
        change("DeleteSpecialty", DeleteSpecialtyRequest.class, ask -> clinic.deleteSpecialty(ask.getId()));
    }

    private void vets() {
        serve("ListVets", ListVetsRequest.class, Vets.class, ask -> clinic.listVets(messages::vets));
        serve("GetVet", GetVetRequest.class, Vet.class, ask -> clinic.getVet(ask.getId(), messages::reply));
        serve("AddVet", AddVetRequest.class, Vet.class,
                ask -> clinic.addVet(messages.vet(ask), messages::reply));
        change("UpdateVet", UpdateVetRequest.class, ask -> clinic.updateVet(ask.getId(), messages.vet(ask)));
        change("DeleteVet", DeleteVetRequest.class, ask -> clinic.deleteVet(ask.getId()));
    }

    private void pets() {
        serve("ListPets", ListPetsRequest.class, Pets.class, ask -> clinic.listPets(messages::pets));
        serve("GetPet", GetPetRequest.class, Pet.class, ask -> clinic.getPet(ask.getId(), messages::reply));
        serve("AddPet", AddPetRequest.class, Pet.class,
                ask -> clinic.addPet(messages.pet(ask), messages::reply));
        change("UpdatePet", UpdatePetRequest.class, ask -> clinic.updatePet(ask.getId(), messages.pet(ask)));
        change("DeletePet", DeletePetRequest.class, ask -> clinic.deletePet(ask.getId()));
    }

    private void visits() {
        serve("ListVisits", ListVisitsRequest.class, Visits.class, ask -> clinic.listVisits(messages::visits));
        serve("GetVisit", GetVisitRequest.class, Visit.class, ask -> clinic.getVisit(ask.getId(), messages::reply));
        serve("AddVisit", AddVisitRequest.class, Visit.class,
                ask -> clinic.addVisit(messages.visit(ask), messages::reply));
        change("UpdateVisit", UpdateVisitRequest.class, ask -> clinic.updateVisit(ask.getId(), messages.visit(ask)));
        change("DeleteVisit", DeleteVisitRequest.class, ask -> clinic.deleteVisit(ask.getId()));
    }

    private void owners() {
        serve("ListOwners", ListOwnersRequest.class, Owners.class, ask -> clinic.listOwners(ask.getLastName(), messages::owners));
        serve("GetOwner", GetOwnerRequest.class, Owner.class, ask -> clinic.getOwner(ask.getId(), messages::reply));
        serve("AddOwner", AddOwnerRequest.class, Owner.class,
                ask -> clinic.addOwner(messages.owner(ask), messages::reply));
        change("UpdateOwner", UpdateOwnerRequest.class, ask -> clinic.updateOwner(ask.getId(), messages.owner(ask)));
        change("DeleteOwner", DeleteOwnerRequest.class, ask -> clinic.deleteOwner(ask.getId()));
        serve("AddPetToOwner", AddPetToOwnerRequest.class, Pet.class,
                ask -> clinic.addPetToOwner(ask.getOwnerId(), messages.pet(ask), messages::reply));
        serve("AddVisitToOwner", AddVisitToOwnerRequest.class, Visit.class, ask -> clinic.addVisitToOwner(
                ask.getOwnerId(), ask.getPetId(), messages.visit(ask), messages::reply));
        serve("GetOwnersPet", GetOwnersPetRequest.class, Pet.class,
                ask -> clinic.getOwnersPet(ask.getOwnerId(), ask.getPetId(), messages::reply));
    }

    /** {@code answer} makes a message of class {@code reply}. */
    private <Q extends Message, R extends Message> void serve(
            String operation, Class<Q> request, Class<R> reply, Function<Q, Object> answer) {
        exchanges.add(new Exchange<>(operation, request, reply, ask -> {
            try {
                return reply.cast(answer.apply(ask));
            } catch (ClinicError error) {
                throw error.kind() == ClinicError.Kind.NOT_FOUND
                        ? ApplicationError.notFound(error.getMessage())
                        : new ApplicationError(error.getMessage());
            }
        }));
    }

    private <Q extends Message> void change(String operation, Class<Q> request, Consumer<Q> change) {
        serve(operation, request, Done.class, ask -> {
            change.accept(ask);
            return Done.getDefaultInstance();
        });
    }
}
