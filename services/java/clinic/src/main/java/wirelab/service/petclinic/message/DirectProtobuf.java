package wirelab.service.petclinic.message;

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
        return limiter.check(EntityMessages.petType(request));
    }

    @Override
    public Specialty specialty(Object request) {
        return limiter.check(EntityMessages.specialty(request));
    }

    @Override
    public Vet vet(Object request) {
        return limiter.check(EntityMessages.vet(request));
    }

    @Override
    public Owner owner(Object request) {
        return limiter.check(EntityMessages.owner(request));
    }

    @Override
    public Pet pet(Object request) {
        return limiter.check(EntityMessages.pet(request));
    }

    @Override
    public Visit visit(Object request) {
        return limiter.check(EntityMessages.visit(request));
    }

    @Override
    wirelab.petclinic.v1.PetType message(PetType row) {
        return EntityMessages.message(row).build();
    }

    @Override
    wirelab.petclinic.v1.Specialty message(Specialty row) {
        return EntityMessages.message(row).build();
    }

    @Override
    wirelab.petclinic.v1.Vet message(Vet row) {
        return EntityMessages.message(row).build();
    }

    @Override
    wirelab.petclinic.v1.Owner message(Owner row) {
        return EntityMessages.message(row).build();
    }

    @Override
    wirelab.petclinic.v1.Pet message(Pet row) {
        return EntityMessages.message(row).build();
    }

    @Override
    wirelab.petclinic.v1.Visit message(Visit row) {
        return EntityMessages.message(row).build();
    }
}
