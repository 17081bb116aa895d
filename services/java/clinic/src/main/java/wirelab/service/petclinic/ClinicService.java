package wirelab.service.petclinic;

import static wirelab.service.petclinic.ClinicError.checkFound;
import static wirelab.service.petclinic.ClinicError.checkReference;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import wirelab.service.petclinic.entity.Owner;
import wirelab.service.petclinic.entity.Pet;
import wirelab.service.petclinic.entity.PetType;
import wirelab.service.petclinic.entity.Specialty;
import wirelab.service.petclinic.entity.Vet;
import wirelab.service.petclinic.entity.Visit;
import wirelab.service.petclinic.store.Repositories;
import wirelab.service.petclinic.store.Table;

/**
 * The operations of {@code petclinic}. Requests are entities of which only the contract's fields count, already
 * checked against their limits; a row that another one names is an entity with an id. Replies are made of entities
 * within the transaction, by a function of the caller.
 */
public final class ClinicService {
    private final Repositories rows;

    /** On tables. */
    public ClinicService(Repositories rows) {
        this.rows = rows;
    }

    private <E, R> R list(Supplier<List<E>> all, Function<List<E>, R> reply) {
        return rows.read(() -> {
            List<E> listed = all.get();
            if (listed.isEmpty()) {
                throw ClinicError.notFound();
            }
            return reply.apply(listed);
        });
    }

    private <E, R> R get(Table<E> table, int id, Function<E, R> reply) {
        return rows.read(() -> reply.apply(checkFound(table.find(id))));
    }

    private <E, R> R add(Table<E> table, E row, Function<E, R> reply) {
        table.insert(row);
        return reply.apply(row);
    }

    private void delete(Table<?> table, int id) {
        rows.write(() -> {
            if (!table.delete(id)) {
                throw ClinicError.notFound();
            }
            return null;
        });
    }

    /** ListPetTypes. */
    public <R> R listPetTypes(Function<List<PetType>, R> reply) {
        return list(rows.petTypes()::all, reply);
    }

    /** GetPetType. */
    public <R> R getPetType(int id, Function<PetType, R> reply) {
        return get(rows.petTypes(), id, reply);
    }

    /** AddPetType. */
    public <R> R addPetType(PetType row, Function<PetType, R> reply) {
        return rows.write(() -> add(rows.petTypes(), row, reply));
    }

    /** UpdatePetType. */
    public void updatePetType(int id, PetType fields) {
        rows.write(() -> {
            PetType row = checkFound(rows.petTypes().find(id));
            row.name = fields.name;
            rows.petTypes().update(row);
            return null;
        });
    }

    /** DeletePetType. */
    public void deletePetType(int id) {
        delete(rows.petTypes(), id);
    }

    /** ListSpecialties. */
    public <R> R listSpecialties(Function<List<Specialty>, R> reply) {
        return list(rows.specialties()::all, reply);
    }

    /** GetSpecialty. */
    public <R> R getSpecialty(int id, Function<Specialty, R> reply) {
        return get(rows.specialties(), id, reply);
    }

    /** AddSpecialty. */
    public <R> R addSpecialty(Specialty row, Function<Specialty, R> reply) {
        return rows.write(() -> add(rows.specialties(), row, reply));
    }

    /** UpdateSpecialty. */
    public void updateSpecialty(int id, Specialty fields) {
        rows.write(() -> {
            Specialty row = checkFound(rows.specialties().find(id));
            row.name = fields.name;
            rows.specialties().update(row);
            return null;
        });
    }

    /** DeleteSpecialty. */
    public void deleteSpecialty(int id) {
        delete(rows.specialties(), id);
    }

    /** ListVets. */
    public <R> R listVets(Function<List<Vet>, R> reply) {
        return list(rows.vets()::all, reply);
    }

    /** GetVet. */
    public <R> R getVet(int id, Function<Vet, R> reply) {
        return get(rows.vets(), id, reply);
    }

    /** AddVet. */
    public <R> R addVet(Vet row, Function<Vet, R> reply) {
        return rows.write(() -> {
            row.specialties = checkSpecialties(row.specialties);
            return add(rows.vets(), row, reply);
        });
    }

    /** UpdateVet. */
    public void updateVet(int id, Vet fields) {
        rows.write(() -> {
            Vet row = checkFound(rows.vets().find(id));
            Set<Specialty> specialties = checkSpecialties(fields.specialties);
            row.firstName = fields.firstName;
            row.lastName = fields.lastName;
            row.specialties.retainAll(specialties);
            row.specialties.addAll(specialties);
            rows.vets().update(row);
            return null;
        });
    }

    /** DeleteVet. */
    public void deleteVet(int id) {
        delete(rows.vets(), id);
    }

    /** The specialties of those ids, each of which there must be. */
    private Set<Specialty> checkSpecialties(Set<Specialty> ids) {
        Set<Specialty> named = new LinkedHashSet<>();
        ids.stream().mapToInt(each -> each.id).distinct().forEach(
                id -> named.add(checkReference(rows.specialties().find(id))));
        return named;
    }

    /** ListOwners. */
    public <R> R listOwners(String lastName, Function<List<Owner>, R> reply) {
        return list(() -> rows.owners().findByPrefix(lastName), reply);
    }

    /** GetOwner. */
    public <R> R getOwner(int id, Function<Owner, R> reply) {
        return get(rows.owners(), id, reply);
    }

    /** AddOwner. */
    public <R> R addOwner(Owner row, Function<Owner, R> reply) {
        return rows.write(() -> add(rows.owners(), row, reply));
    }

    /** UpdateOwner. */
    public void updateOwner(int id, Owner fields) {
        rows.write(() -> {
            Owner row = checkFound(rows.owners().find(id));
            row.firstName = fields.firstName;
            row.lastName = fields.lastName;
            row.address = fields.address;
            row.city = fields.city;
            row.telephone = fields.telephone;
            rows.owners().update(row);
            return null;
        });
    }

    /** DeleteOwner. */
    public void deleteOwner(int id) {
        delete(rows.owners(), id);
    }

    /** AddPetToOwner. */
    public <R> R addPetToOwner(int ownerId, Pet row, Function<Pet, R> reply) {
        return rows.write(() -> {
            row.owner = checkFound(rows.owners().find(ownerId));
            row.type = type(row);
            return add(rows.pets(), row, reply);
        });
    }

    /** AddVisitToOwner. */
    public <R> R addVisitToOwner(int ownerId, int petId, Visit row, Function<Visit, R> reply) {
        return rows.write(() -> {
            row.pet = petOf(ownerId, petId);
            return add(rows.visits(), row, reply);
        });
    }

    /** GetOwnersPet. */
    public <R> R getOwnersPet(int ownerId, int petId, Function<Pet, R> reply) {
        return rows.read(() -> reply.apply(petOf(ownerId, petId)));
    }

    private Pet petOf(int ownerId, int petId) {
        Pet pet = checkFound(rows.pets().find(petId));
        return checkFound(pet.owner.id == ownerId ? pet : null);
    }

    /** ListPets. */
    public <R> R listPets(Function<List<Pet>, R> reply) {
        return list(rows.pets()::all, reply);
    }

    /** GetPet. */
    public <R> R getPet(int id, Function<Pet, R> reply) {
        return get(rows.pets(), id, reply);
    }

    /** AddPet. */
    public <R> R addPet(Pet row, Function<Pet, R> reply) {
        return rows.write(() -> {
            row.type = type(row);
            row.owner = checkReference(rows.owners().find(row.owner.id));
            return add(rows.pets(), row, reply);
        });
    }

    /** UpdatePet. */
    public void updatePet(int id, Pet fields) {
        rows.write(() -> {
            Pet row = checkFound(rows.pets().find(id));
            row.type = type(fields);
            row.name = fields.name;
            row.birthDate = fields.birthDate;
            rows.pets().update(row);
            return null;
        });
    }

    private PetType type(Pet fields) {
        return checkReference(rows.petTypes().find(fields.type.id));
    }

    /** DeletePet. */
    public void deletePet(int id) {
        delete(rows.pets(), id);
    }

    /** ListVisits. */
    public <R> R listVisits(Function<List<Visit>, R> reply) {
        return list(rows.visits()::all, reply);
    }

    /** GetVisit. */
    public <R> R getVisit(int id, Function<Visit, R> reply) {
        return get(rows.visits(), id, reply);
    }

    /** AddVisit. */
    public <R> R addVisit(Visit row, Function<Visit, R> reply) {
        return rows.write(() -> {
            row.pet = checkReference(rows.pets().find(row.pet.id));
            return add(rows.visits(), row, reply);
        });
    }

    /** UpdateVisit. */
    public void updateVisit(int id, Visit fields) {
        rows.write(() -> {
            Visit row = checkFound(rows.visits().find(id));
            row.date = fields.date;
            row.description = fields.description;
            rows.visits().update(row);
            return null;
        });
    }

    /** DeleteVisit. */
    public void deleteVisit(int id) {
        delete(rows.visits(), id);
    }
}
