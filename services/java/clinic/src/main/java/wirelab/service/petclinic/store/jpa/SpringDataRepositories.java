package wirelab.service.petclinic.store.jpa;

import java.util.List;
import java.util.function.IntUnaryOperator;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.data.domain.Sort;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import wirelab.service.petclinic.entity.Owner;
import wirelab.service.petclinic.entity.Pet;
import wirelab.service.petclinic.entity.PetType;
import wirelab.service.petclinic.entity.Specialty;
import wirelab.service.petclinic.entity.Vet;
import wirelab.service.petclinic.entity.Visit;
import wirelab.service.petclinic.store.DatabaseRepositories;
import wirelab.service.petclinic.store.OwnerTable;
import wirelab.service.petclinic.store.Repositories;
import wirelab.service.petclinic.store.Table;
import wirelab.service.petclinic.store.Transactions;

/** The tables through Spring Data JPA. */
public final class SpringDataRepositories {
    /** Spring Data's part of {@link #petTypes}. */
    public interface PetTypes extends JpaRepository<PetType, Integer> {
        /** Deletes visits. */
        @Modifying @Query(Queries.DELETE_VISITS_OF_TYPE) int deleteVisits(int id);

        /** Deletes pets. */
        @Modifying @Query(Queries.DELETE_PETS_OF_TYPE) int deletePets(int id);

        /** Deletes the type. */
        @Modifying @Query(Queries.DELETE_TYPE) int deleteRow(int id);
    }

    /** Spring Data's part of {@link #specialties}. */
    public interface Specialties extends JpaRepository<Specialty, Integer> {
        /** Takes it from its vets. */
        @Modifying @Query(value = Queries.UNLINK_SPECIALTY, nativeQuery = true) int unlink(int id);

        /** Deletes the specialty. */
        @Modifying @Query(Queries.DELETE_SPECIALTY) int deleteRow(int id);
    }

    /** Spring Data's part of {@link #vets}. */
    public interface Vets extends JpaRepository<Vet, Integer> {
        /** Takes the specialties from it. */
        @Modifying @Query(value = Queries.UNLINK_VET, nativeQuery = true) int unlink(int id);

        /** Deletes the vet. */
        @Modifying @Query(Queries.DELETE_VET) int deleteRow(int id);
    }

    /** Spring Data's part of {@link #owners}. */
    public interface Owners extends JpaRepository<Owner, Integer> {
        /** By the beginning of the last name. */
        @Query(Queries.OWNERS_NAMED) List<Owner> findByPrefix(String prefix);

        /** The same in one statement. */
        @Query(Queries.OWNERS_NAMED_JOINED) List<Owner> findByPrefixJoined(String prefix);

        /** Deletes visits. */
        @Modifying @Query(Queries.DELETE_VISITS_OF_OWNER) int deleteVisits(int id);

        /** Deletes pets. */
        @Modifying @Query(Queries.DELETE_PETS_OF_OWNER) int deletePets(int id);

        /** Deletes the owner. */
        @Modifying @Query(Queries.DELETE_OWNER) int deleteRow(int id);
    }

    /** Spring Data's part of {@link #pets}. */
    public interface Pets extends JpaRepository<Pet, Integer> {
        /** Deletes visits. */
        @Modifying @Query(Queries.DELETE_VISITS_OF_PET) int deleteVisits(int id);

        /** Deletes the pet. */
        @Modifying @Query(Queries.DELETE_PET) int deleteRow(int id);
    }

    /** Spring Data's part of {@link #visits}. */
    public interface Visits extends JpaRepository<Visit, Integer> {
        /** Deletes the visit. */
        @Modifying @Query(Queries.DELETE_VISIT) int deleteRow(int id);
    }

    private static class Rows<E> implements Table<E> {
        private final JpaRepository<E, Integer> repository;
        private final IntUnaryOperator deletion;

        Rows(JpaRepository<E, Integer> repository, IntUnaryOperator deletion) {
            this.repository = repository;
            this.deletion = deletion;
        }

        @Override
        public List<E> all() {
            return repository.findAll(Sort.by("id"));
        }

        @Override
        public E find(int id) {
            return repository.findById(id).orElse(null);
        }

        @Override
        public void insert(E row) {
            repository.save(row);
        }

        @Override
        public void update(E row) {
            repository.save(row);
        }

        @Override
        public boolean delete(int id) {
            return deletion.applyAsInt(id) > 0;
        }
    }

    private static final class OwnerRows extends Rows<Owner> implements OwnerTable {
        private final Owners owners;
        private final boolean join;

        OwnerRows(Owners owners, boolean join) {
            super(owners, id -> {
                owners.deleteVisits(id);
                owners.deletePets(id);
                return owners.deleteRow(id);
            });
            this.owners = owners;
            this.join = join;
        }

        @Override
        public List<Owner> all() {
            return findByPrefix("");
        }

        @Override
        public List<Owner> findByPrefix(String prefix) {
            String pattern = OwnerTable.pattern(prefix);
            return join ? owners.findByPrefixJoined(pattern) : owners.findByPrefix(pattern);
        }
    }

    private SpringDataRepositories() {}

    /** Over the repositories that Spring has made; {@code join} reads lists of owners by one statement. */
    static Repositories of(Transactions transactions, BeanFactory beans, boolean join) {
        PetTypes types = beans.getBean(PetTypes.class);
        Specialties specialties = beans.getBean(Specialties.class);
        Vets vets = beans.getBean(Vets.class);
        Pets pets = beans.getBean(Pets.class);
        Visits visits = beans.getBean(Visits.class);
        return new DatabaseRepositories(
                transactions,
                new Rows<>(types, id -> {
                    types.deleteVisits(id);
                    types.deletePets(id);
                    return types.deleteRow(id);
                }),
                new Rows<>(specialties, id -> {
                    specialties.unlink(id);
                    return specialties.deleteRow(id);
                }),
                new Rows<>(vets, id -> {
                    vets.unlink(id);
                    return vets.deleteRow(id);
                }),
                new OwnerRows(beans.getBean(Owners.class), join),
                new Rows<>(pets, id -> {
                    pets.deleteVisits(id);
                    return pets.deleteRow(id);
                }),
                new Rows<>(visits, visits::deleteRow));
    }
}
