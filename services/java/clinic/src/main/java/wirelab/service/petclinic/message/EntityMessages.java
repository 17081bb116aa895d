package wirelab.service.petclinic.message;

import static wirelab.service.petclinic.message.Fields.day;

import wirelab.petclinic.v1.AddOwnerRequest;
import wirelab.petclinic.v1.AddPetRequest;
import wirelab.petclinic.v1.AddPetToOwnerRequest;
import wirelab.petclinic.v1.AddPetTypeRequest;
import wirelab.petclinic.v1.AddSpecialtyRequest;
import wirelab.petclinic.v1.AddVetRequest;
import wirelab.petclinic.v1.AddVisitRequest;
import wirelab.petclinic.v1.AddVisitToOwnerRequest;
import wirelab.petclinic.v1.UpdateOwnerRequest;
import wirelab.petclinic.v1.UpdatePetRequest;
import wirelab.petclinic.v1.UpdatePetTypeRequest;
import wirelab.petclinic.v1.UpdateSpecialtyRequest;
import wirelab.petclinic.v1.UpdateVetRequest;
import wirelab.petclinic.v1.UpdateVisitRequest;
import wirelab.service.petclinic.entity.Owner;
import wirelab.service.petclinic.entity.Pet;
import wirelab.service.petclinic.entity.PetType;
import wirelab.service.petclinic.entity.Specialty;
import wirelab.service.petclinic.entity.Vet;
import wirelab.service.petclinic.entity.Visit;

/** From the messages of Protocol Buffers to entities and back. */
final class EntityMessages {
    private EntityMessages() {}

    static PetType petType(Object request) {
        return new PetType(null, request instanceof AddPetTypeRequest ask
                ? ask.getName()
                : ((UpdatePetTypeRequest) request).getName());
    }

    static Specialty specialty(Object request) {
        return new Specialty(null, request instanceof AddSpecialtyRequest ask
                ? ask.getName()
                : ((UpdateSpecialtyRequest) request).getName());
    }

    static Vet vet(Object request) {
        if (request instanceof AddVetRequest ask) {
            return vet(ask.getFirstName(), ask.getLastName(), ask.getSpecialtiesList());
        }
        UpdateVetRequest ask = (UpdateVetRequest) request;
        return vet(ask.getFirstName(), ask.getLastName(), ask.getSpecialtiesList());
    }

    private static Vet vet(
            String firstName, String lastName, Iterable<wirelab.petclinic.v1.Specialty> specialties) {
        Vet row = new Vet();
        row.firstName = firstName;
        row.lastName = lastName;
        specialties.forEach(each -> row.specialties.add(new Specialty(each.getId(), null)));
        return row;
    }

    static Owner owner(Object request) {
        Owner row = new Owner();
        if (request instanceof AddOwnerRequest ask) {
            row.firstName = ask.getFirstName();
            row.lastName = ask.getLastName();
            row.address = ask.getAddress();
            row.city = ask.getCity();
            row.telephone = ask.getTelephone();
            return row;
        }
        UpdateOwnerRequest ask = (UpdateOwnerRequest) request;
        row.firstName = ask.getFirstName();
        row.lastName = ask.getLastName();
        row.address = ask.getAddress();
        row.city = ask.getCity();
        row.telephone = ask.getTelephone();
        return row;
    }

    static Pet pet(Object request) {
        if (request instanceof AddPetRequest ask) {
            return pet(ask.getName(), ask.getBirthDate(), ask.getType(), ask.getOwnerId());
        }
        if (request instanceof AddPetToOwnerRequest ask) {
            return pet(ask.getName(), ask.getBirthDate(), ask.getType(), ask.getOwnerId());
        }
        UpdatePetRequest ask = (UpdatePetRequest) request;
        return pet(ask.getName(), ask.getBirthDate(), ask.getType(), 0);
    }

    private static Pet pet(String name, String birthDate, wirelab.petclinic.v1.PetType type, int ownerId) {
        Pet row = new Pet();
        row.name = name;
        row.birthDate = day(birthDate);
        row.type = new PetType(type.getId(), null);
        row.owner = new Owner();
        row.owner.id = ownerId;
        return row;
    }

    static Visit visit(Object request) {
        if (request instanceof AddVisitRequest ask) {
            return visit(ask.getDate(), ask.getDescription(), ask.getPetId());
        }
        if (request instanceof AddVisitToOwnerRequest ask) {
            return visit(ask.getDate(), ask.getDescription(), ask.getPetId());
        }
        UpdateVisitRequest ask = (UpdateVisitRequest) request;
        return visit(ask.getDate(), ask.getDescription(), 0);
    }

    private static Visit visit(String date, String description, int petId) {
        Visit row = new Visit();
        row.date = day(date);
        row.description = description;
        row.pet = new Pet();
        row.pet.id = petId;
        return row;
    }

    static wirelab.petclinic.v1.PetType.Builder message(PetType row) {
        return wirelab.petclinic.v1.PetType.newBuilder().setId(row.id).setName(row.name);
    }

    static wirelab.petclinic.v1.Specialty.Builder message(Specialty row) {
        return wirelab.petclinic.v1.Specialty.newBuilder().setId(row.id).setName(row.name);
    }

    static wirelab.petclinic.v1.Vet.Builder message(Vet row) {
        wirelab.petclinic.v1.Vet.Builder vet = wirelab.petclinic.v1.Vet.newBuilder()
                .setId(row.id).setFirstName(row.firstName).setLastName(row.lastName);
        row.specialtiesInOrder().forEach(each -> vet.addSpecialties(message(each)));
        return vet;
    }

    static wirelab.petclinic.v1.Visit.Builder message(Visit row) {
        return wirelab.petclinic.v1.Visit.newBuilder()
                .setId(row.id).setDate(row.date.toString()).setDescription(row.description).setPetId(row.pet.id);
    }

    static wirelab.petclinic.v1.Pet.Builder message(Pet row) {
        wirelab.petclinic.v1.Pet.Builder pet = wirelab.petclinic.v1.Pet.newBuilder()
                .setId(row.id).setName(row.name).setBirthDate(row.birthDate.toString())
                .setType(message(row.type)).setOwnerId(row.owner.id);
        row.visitsInOrder().forEach(each -> pet.addVisits(message(each)));
        return pet;
    }

    static wirelab.petclinic.v1.Owner.Builder message(Owner row) {
        wirelab.petclinic.v1.Owner.Builder owner = wirelab.petclinic.v1.Owner.newBuilder()
                .setId(row.id).setFirstName(row.firstName).setLastName(row.lastName)
                .setAddress(row.address).setCity(row.city).setTelephone(row.telephone);
        row.petsInOrder().forEach(each -> owner.addPets(message(each)));
        return owner;
    }
}
