package wirelab.service.petclinic.message;

import java.util.List;
import wirelab.petclinic.v1.AddOwnerRequest;
import wirelab.petclinic.v1.AddPetRequest;
import wirelab.petclinic.v1.AddPetToOwnerRequest;
import wirelab.petclinic.v1.AddPetTypeRequest;
import wirelab.petclinic.v1.AddSpecialtyRequest;
import wirelab.petclinic.v1.AddVetRequest;
import wirelab.petclinic.v1.AddVisitRequest;
import wirelab.petclinic.v1.AddVisitToOwnerRequest;
import wirelab.petclinic.v1.Owner;
import wirelab.petclinic.v1.Pet;
import wirelab.petclinic.v1.PetType;
import wirelab.petclinic.v1.Specialty;
import wirelab.petclinic.v1.UpdateOwnerRequest;
import wirelab.petclinic.v1.UpdatePetRequest;
import wirelab.petclinic.v1.UpdatePetTypeRequest;
import wirelab.petclinic.v1.UpdateSpecialtyRequest;
import wirelab.petclinic.v1.UpdateVetRequest;
import wirelab.petclinic.v1.UpdateVisitRequest;
import wirelab.petclinic.v1.Vet;
import wirelab.petclinic.v1.Visit;
import wirelab.service.petclinic.message.Dtos.NameFields;
import wirelab.service.petclinic.message.Dtos.Named;
import wirelab.service.petclinic.message.Dtos.OwnerDto;
import wirelab.service.petclinic.message.Dtos.OwnerFields;
import wirelab.service.petclinic.message.Dtos.PetDto;
import wirelab.service.petclinic.message.Dtos.PetFields;
import wirelab.service.petclinic.message.Dtos.PetTypeDto;
import wirelab.service.petclinic.message.Dtos.SpecialtyDto;
import wirelab.service.petclinic.message.Dtos.VetDto;
import wirelab.service.petclinic.message.Dtos.VetFields;
import wirelab.service.petclinic.message.Dtos.VisitDto;
import wirelab.service.petclinic.message.Dtos.VisitFields;

/** From the messages of Protocol Buffers to data transfer objects and back. */
final class DtoMessages {
    private DtoMessages() {}

    static NameFields name(Object request) {
        if (request instanceof AddPetTypeRequest ask) {
            return new NameFields(0, ask.getName());
        }
        if (request instanceof UpdatePetTypeRequest ask) {
            return new NameFields(0, ask.getName());
        }
        return new NameFields(0, request instanceof AddSpecialtyRequest ask
                ? ask.getName()
                : ((UpdateSpecialtyRequest) request).getName());
    }

    static VetFields vet(Object request) {
        if (request instanceof AddVetRequest ask) {
            return new VetFields(ask.getFirstName(), ask.getLastName(), toNamed(ask.getSpecialtiesList()));
        }
        UpdateVetRequest ask = (UpdateVetRequest) request;
        return new VetFields(ask.getFirstName(), ask.getLastName(), toNamed(ask.getSpecialtiesList()));
    }

    private static List<Named> toNamed(List<Specialty> specialties) {
        return specialties.stream().map(each -> new Named(each.getId())).toList();
    }

    static OwnerFields owner(Object request) {
        if (request instanceof AddOwnerRequest ask) {
            return new OwnerFields(
                    ask.getFirstName(), ask.getLastName(), ask.getAddress(), ask.getCity(), ask.getTelephone());
        }
        UpdateOwnerRequest ask = (UpdateOwnerRequest) request;
        return new OwnerFields(
                ask.getFirstName(), ask.getLastName(), ask.getAddress(), ask.getCity(), ask.getTelephone());
    }

    static PetFields pet(Object request) {
        if (request instanceof AddPetRequest ask) {
            return new PetFields(ask.getName(), ask.getBirthDate(), toNamed(ask.getType()), ask.getOwnerId());
        }
        if (request instanceof AddPetToOwnerRequest ask) {
            return new PetFields(ask.getName(), ask.getBirthDate(), toNamed(ask.getType()), ask.getOwnerId());
        }
        UpdatePetRequest ask = (UpdatePetRequest) request;
        return new PetFields(ask.getName(), ask.getBirthDate(), toNamed(ask.getType()), 0);
    }

    private static Named toNamed(PetType type) {
        return new Named(type.getId());
    }

    static VisitFields visit(Object request) {
        if (request instanceof AddVisitRequest ask) {
            return new VisitFields(ask.getDate(), ask.getDescription(), ask.getPetId());
        }
        if (request instanceof AddVisitToOwnerRequest ask) {
            return new VisitFields(ask.getDate(), ask.getDescription(), ask.getPetId());
        }
        UpdateVisitRequest ask = (UpdateVisitRequest) request;
        return new VisitFields(ask.getDate(), ask.getDescription(), 0);
    }

    static PetType message(PetTypeDto dto) {
        return PetType.newBuilder().setId(dto.id()).setName(dto.name()).build();
    }

    static Specialty message(SpecialtyDto dto) {
        return Specialty.newBuilder().setId(dto.id()).setName(dto.name()).build();
    }

    static Vet message(VetDto dto) {
        Vet.Builder vet = Vet.newBuilder()
                .setId(dto.id()).setFirstName(dto.firstName()).setLastName(dto.lastName());
        dto.specialties().forEach(each -> vet.addSpecialties(message(each)));
        return vet.build();
    }

    static Visit message(VisitDto dto) {
        return Visit.newBuilder()
                .setId(dto.id()).setDate(dto.date()).setDescription(dto.description()).setPetId(dto.petId())
                .build();
    }

    static Pet message(PetDto dto) {
        Pet.Builder pet = Pet.newBuilder()
                .setId(dto.id()).setName(dto.name()).setBirthDate(dto.birthDate())
                .setType(message(dto.type())).setOwnerId(dto.ownerId());
        dto.visits().forEach(each -> pet.addVisits(message(each)));
        return pet.build();
    }

    static Owner message(OwnerDto dto) {
        Owner.Builder owner = Owner.newBuilder()
                .setId(dto.id()).setFirstName(dto.firstName()).setLastName(dto.lastName())
                .setAddress(dto.address()).setCity(dto.city()).setTelephone(dto.telephone());
        dto.pets().forEach(each -> owner.addPets(message(each)));
        return owner.build();
    }
}
