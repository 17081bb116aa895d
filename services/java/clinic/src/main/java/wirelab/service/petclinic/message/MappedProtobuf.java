package wirelab.service.petclinic.message;

import wirelab.service.petclinic.entity.Owner;
import wirelab.service.petclinic.entity.Pet;
import wirelab.service.petclinic.entity.PetType;
import wirelab.service.petclinic.entity.Specialty;
import wirelab.service.petclinic.entity.Vet;
import wirelab.service.petclinic.entity.Visit;

/** Protocol Buffers through data transfer objects. */
final class MappedProtobuf extends ProtobufMessages {
    private static final EntityMapper MAPPER = EntityMapper.INSTANCE;

    private final Limiter limiter;

    MappedProtobuf(Limiter limiter) {
        this.limiter = limiter;
    }

    @Override
    public PetType petType(Object request) {
        return MAPPER.petType(limiter.check(DtoMessages.name(request)));
    }

    @Override
    public Specialty specialty(Object request) {
        return MAPPER.specialty(limiter.check(DtoMessages.name(request)));
    }

    @Override
    public Vet vet(Object request) {
        return MAPPER.vet(limiter.check(DtoMessages.vet(request)));
    }

    @Override
    public Owner owner(Object request) {
        return MAPPER.owner(limiter.check(DtoMessages.owner(request)));
    }

    @Override
    public Pet pet(Object request) {
        return MAPPER.pet(limiter.check(DtoMessages.pet(request)));
    }

    @Override
    public Visit visit(Object request) {
        return MAPPER.visit(limiter.check(DtoMessages.visit(request)));
    }

    @Override
    wirelab.petclinic.v1.PetType message(PetType row) {
        return DtoMessages.message(MAPPER.dto(row));
    }

    @Override
    wirelab.petclinic.v1.Specialty message(Specialty row) {
        return DtoMessages.message(MAPPER.dto(row));
    }

    @Override
    wirelab.petclinic.v1.Vet message(Vet row) {
        return DtoMessages.message(MAPPER.dto(row));
    }

    @Override
    wirelab.petclinic.v1.Owner message(Owner row) {
        return DtoMessages.message(MAPPER.dto(row));
    }

    @Override
    wirelab.petclinic.v1.Pet message(Pet row) {
        return DtoMessages.message(MAPPER.dto(row));
    }

    @Override
    wirelab.petclinic.v1.Visit message(Visit row) {
        return DtoMessages.message(MAPPER.dto(row));
    }
}
