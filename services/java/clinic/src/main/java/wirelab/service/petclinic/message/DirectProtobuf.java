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

/** Protocol Buffers made of entities directly. */
final class DirectProtobuf extends ProtobufMessages {
    private final Limiter limiter;

    DirectProtobuf(Limiter limiter) {
        this.limiter = limiter;
    }

    @Override
    public PetType petType(Object request) {
        return limiter.checked(EntityMessages.petType(request));
    }

    @Override
    public Specialty specialty(Object request) {
        return limiter.checked(EntityMessages.specialty(request));
    }

    @Override
    public Vet vet(Object request) {
        return limiter.checked(EntityMessages.vet(request));
    }

    @Override
    public Owner owner(Object request) {
        return limiter.checked(EntityMessages.owner(request));
    }

    @Override
    public Pet pet(Object request) {
        return limiter.checked(EntityMessages.pet(request));
    }

    @Override
    public Visit visit(Object request) {
        return limiter.checked(EntityMessages.visit(request));
    }

    @Override
    public Object reply(PetType row) {
        return EntityMessages.message(row).build();
    }

    @Override
    public Object reply(Specialty row) {
        return EntityMessages.message(row).build();
    }

    @Override
    public Object reply(Vet row) {
        return EntityMessages.message(row).build();
    }

    @Override
    public Object reply(Owner row) {
        return EntityMessages.message(row).build();
    }

    @Override
    public Object reply(Pet row) {
        return EntityMessages.message(row).build();
    }

    @Override
    public Object reply(Visit row) {
        return EntityMessages.message(row).build();
    }

    @Override
    public Object petTypes(List<PetType> rows) {
        PetTypes.Builder all = PetTypes.newBuilder();
        rows.forEach(row -> all.addPetTypes(EntityMessages.message(row)));
        return all.build();
    }

    @Override
    public Object specialties(List<Specialty> rows) {
        Specialties.Builder all = Specialties.newBuilder();
        rows.forEach(row -> all.addSpecialties(EntityMessages.message(row)));
        return all.build();
    }

    @Override
    public Object vets(List<Vet> rows) {
        Vets.Builder all = Vets.newBuilder();
        rows.forEach(row -> all.addVets(EntityMessages.message(row)));
        return all.build();
    }

    @Override
    public Object owners(List<Owner> rows) {
        Owners.Builder all = Owners.newBuilder();
        rows.forEach(row -> all.addOwners(EntityMessages.message(row)));
        return all.build();
    }

    @Override
    public Object pets(List<Pet> rows) {
        Pets.Builder all = Pets.newBuilder();
        rows.forEach(row -> all.addPets(EntityMessages.message(row)));
        return all.build();
    }

    @Override
    public Object visits(List<Visit> rows) {
        Visits.Builder all = Visits.newBuilder();
        rows.forEach(row -> all.addVisits(EntityMessages.message(row)));
        return all.build();
    }
}
