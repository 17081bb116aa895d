package wirelab.service.petclinic.message;

import java.util.List;
import wirelab.petclinic.v1.Owners;
import wirelab.petclinic.v1.PetTypes;
import wirelab.petclinic.v1.Pets;
import wirelab.petclinic.v1.Specialties;
import wirelab.petclinic.v1.Vets;
import wirelab.petclinic.v1.Visits;
import wirelab.service.petclinic.entity.Owner;
import wirelab.service.petclinic.entity.Pet;
import wirelab.service.petclinic.entity.PetType;
import wirelab.service.petclinic.entity.Specialty;
import wirelab.service.petclinic.entity.Vet;
import wirelab.service.petclinic.entity.Visit;

/** Protocol Buffers through data transfer objects. */
final class MappedProtobuf extends ProtobufMessages {
    private final Limiter limiter;

    MappedProtobuf(Limiter limiter) {
        this.limiter = limiter;
    }

    @Override
    public PetType petType(Object request) {
        return Mapper.petType(limiter.checked(DtoMessages.name(request)));
    }

    @Override
    public Specialty specialty(Object request) {
        return Mapper.specialty(limiter.checked(DtoMessages.name(request)));
    }

    @Override
    public Vet vet(Object request) {
        return Mapper.vet(limiter.checked(DtoMessages.vet(request)));
    }

    @Override
    public Owner owner(Object request) {
        return Mapper.owner(limiter.checked(DtoMessages.owner(request)));
    }

    @Override
    public Pet pet(Object request) {
        return Mapper.pet(limiter.checked(DtoMessages.pet(request)));
    }

    @Override
    public Visit visit(Object request) {
        return Mapper.visit(limiter.checked(DtoMessages.visit(request)));
    }

    @Override
    public Object reply(PetType row) {
        return DtoMessages.message(Mapper.dto(row));
    }

    @Override
    public Object reply(Specialty row) {
        return DtoMessages.message(Mapper.dto(row));
    }

    @Override
    public Object reply(Vet row) {
        return DtoMessages.message(Mapper.dto(row));
    }

    @Override
    public Object reply(Owner row) {
        return DtoMessages.message(Mapper.dto(row));
    }

    @Override
    public Object reply(Pet row) {
        return DtoMessages.message(Mapper.dto(row));
    }

    @Override
    public Object reply(Visit row) {
        return DtoMessages.message(Mapper.dto(row));
    }

    @Override
    public Object petTypes(List<PetType> rows) {
        PetTypes.Builder all = PetTypes.newBuilder();
        rows.forEach(row -> all.addPetTypes(DtoMessages.message(Mapper.dto(row))));
        return all.build();
    }

    @Override
    public Object specialties(List<Specialty> rows) {
        Specialties.Builder all = Specialties.newBuilder();
        rows.forEach(row -> all.addSpecialties(DtoMessages.message(Mapper.dto(row))));
        return all.build();
    }

    @Override
    public Object vets(List<Vet> rows) {
        Vets.Builder all = Vets.newBuilder();
        rows.forEach(row -> all.addVets(DtoMessages.message(Mapper.dto(row))));
        return all.build();
    }

    @Override
    public Object owners(List<Owner> rows) {
        Owners.Builder all = Owners.newBuilder();
        rows.forEach(row -> all.addOwners(DtoMessages.message(Mapper.dto(row))));
        return all.build();
    }

    @Override
    public Object pets(List<Pet> rows) {
        Pets.Builder all = Pets.newBuilder();
        rows.forEach(row -> all.addPets(DtoMessages.message(Mapper.dto(row))));
        return all.build();
    }

    @Override
    public Object visits(List<Visit> rows) {
        Visits.Builder all = Visits.newBuilder();
        rows.forEach(row -> all.addVisits(DtoMessages.message(Mapper.dto(row))));
        return all.build();
    }
}
