package wirelab.service.petclinic.message;

import java.time.LocalDate;
import java.util.List;
import java.util.Set;
import org.mapstruct.Mapper;
import org.mapstruct.Mapping;
import org.mapstruct.NullValueMappingStrategy;
import org.mapstruct.ReportingPolicy;
import wirelab.service.petclinic.entity.Owner;
import wirelab.service.petclinic.entity.Pet;
import wirelab.service.petclinic.entity.PetType;
import wirelab.service.petclinic.entity.Specialty;
import wirelab.service.petclinic.entity.Vet;
import wirelab.service.petclinic.entity.Visit;
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

/** From entities to data transfer objects and back, by MapStruct. What a request has no field for stays empty. */
@Mapper(
        uses = Fields.class,
        unmappedTargetPolicy = ReportingPolicy.IGNORE,
        nullValueIterableMappingStrategy = NullValueMappingStrategy.RETURN_DEFAULT)
interface EntityMapper {
    EntityMapper INSTANCE = new EntityMapperImpl();

    PetTypeDto dto(PetType row);

    SpecialtyDto dto(Specialty row);

    VetDto dto(Vet row);

    @Mapping(target = "petId", source = "pet.id")
    VisitDto dto(Visit row);

    @Mapping(target = "ownerId", source = "owner.id")
    PetDto dto(Pet row);

    OwnerDto dto(Owner row);

    List<PetTypeDto> petTypes(List<PetType> rows);

    List<SpecialtyDto> specialties(List<Specialty> rows);

    List<VetDto> vets(List<Vet> rows);

    List<VisitDto> visits(List<Visit> rows);

    List<PetDto> pets(List<Pet> rows);

    List<OwnerDto> owners(List<Owner> rows);

    default List<SpecialtyDto> specialties(Set<Specialty> rows) {
        return specialties(Vet.sort(rows));
    }

    default List<VisitDto> visits(Set<Visit> rows) {
        return visits(Pet.sort(rows));
    }

    default List<PetDto> pets(Set<Pet> rows) {
        return pets(Owner.sort(rows));
    }

    default String date(LocalDate date) {
        return date.toString();
    }

    @Mapping(target = "id", ignore = true)
    PetType petType(NameFields fields);

    @Mapping(target = "id", ignore = true)
    Specialty specialty(NameFields fields);

    Vet vet(VetFields fields);

    Owner owner(OwnerFields fields);

    @Mapping(target = "owner.id", source = "ownerId")
    Pet pet(PetFields fields);

    @Mapping(target = "pet.id", source = "petId")
    Visit visit(VisitFields fields);

    Specialty specialty(Named row);

    default PetType petType(Named row) {
        return new PetType(row == null ? 0 : row.id(), null);
    }
}
