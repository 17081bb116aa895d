package wirelab.service.petclinic.message;

import static wirelab.service.petclinic.message.Fields.day;
import static wirelab.service.petclinic.message.Fields.text;

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

/** From entities to data transfer objects and back. */
final class Mapper {
    private Mapper() {}

    static PetTypeDto dto(PetType row) {
        return new PetTypeDto(row.id, row.name);
    }

    static SpecialtyDto dto(Specialty row) {
        return new SpecialtyDto(row.id, row.name);
    }

    static VetDto dto(Vet row) {
        return new VetDto(row.id, row.firstName, row.lastName,
                row.specialtiesInOrder().stream().map(Mapper::dto).toList());
    }

    static VisitDto dto(Visit row) {
        return new VisitDto(row.id, row.date.toString(), row.description, row.pet.id);
    }

    static PetDto dto(Pet row) {
        return new PetDto(row.id, row.name, row.birthDate.toString(), dto(row.type), row.owner.id,
                row.visitsInOrder().stream().map(Mapper::dto).toList());
    }

    static OwnerDto dto(Owner row) {
        return new OwnerDto(row.id, row.firstName, row.lastName, row.address, row.city, row.telephone,
                row.petsInOrder().stream().map(Mapper::dto).toList());
    }

    static PetType petType(NameFields fields) {
        return new PetType(null, text(fields.name()));
    }

    static Specialty specialty(NameFields fields) {
        return new Specialty(null, text(fields.name()));
    }

    static Vet vet(VetFields fields) {
        Vet row = new Vet();
        row.firstName = text(fields.firstName());
        row.lastName = text(fields.lastName());
        if (fields.specialties() != null) {
            fields.specialties().forEach(each -> row.specialties.add(new Specialty(id(each), null)));
        }
        return row;
    }

    static Owner owner(OwnerFields fields) {
        Owner row = new Owner();
        row.firstName = text(fields.firstName());
        row.lastName = text(fields.lastName());
        row.address = text(fields.address());
        row.city = text(fields.city());
        row.telephone = text(fields.telephone());
        return row;
    }

    static Pet pet(PetFields fields) {
        Pet row = new Pet();
        row.name = text(fields.name());
        row.birthDate = day(fields.birthDate());
        row.type = new PetType(id(fields.type()), null);
        row.owner = new Owner();
        row.owner.id = fields.ownerId();
        return row;
    }

    static Visit visit(VisitFields fields) {
        Visit row = new Visit();
        row.date = day(fields.date());
        row.description = text(fields.description());
        row.pet = new Pet();
        row.pet.id = fields.petId();
        return row;
    }

    private static int id(Named row) {
        return row == null ? 0 : row.id();
    }
}
