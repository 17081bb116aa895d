package wirelab.service.petclinic.store.jpa;

import jakarta.persistence.EntityManager;
import java.util.List;
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

/** The tables through an EntityManager, which is that of the transaction. */
final class JpaRepositories {
    /** Deletes rows: JPQL, or SQL where there is no entity. */
    private record Deletion(String statement, boolean sql) {
        static Deletion jpql(String statement) {
            return new Deletion(statement, false);
        }

        int of(EntityManager manager, int id) {
            return (sql ? manager.createNativeQuery(statement) : manager.createQuery(statement))
                    .setParameter("id", id)
                    .executeUpdate();
        }
    }

    private static class Rows<E> implements Table<E> {
        final EntityManager manager;
        private final Class<E> entity;
        private final List<Deletion> deletions;

        Rows(EntityManager manager, Class<E> entity, Deletion... deletions) {
            this.manager = manager;
            this.entity = entity;
            this.deletions = List.of(deletions);
        }

        @Override
        public List<E> all() {
            return manager.createQuery("select e from " + entity.getSimpleName() + " e order by e.id", entity)
                    .getResultList();
        }

        @Override
        public E find(int id) {
            return manager.find(entity, id);
        }

        @Override
        public void insert(E row) {
            manager.persist(row);
        }

        @Override
        public void update(E row) {
            manager.merge(row);
        }

        /** The last of the deletions is that of the row itself. */
        @Override
        public boolean delete(int id) {
            int deleted = 0;
            for (Deletion deletion : deletions) {
                deleted = deletion.of(manager, id);
            }
            return deleted > 0;
        }
    }

    private static final class OwnerRows extends Rows<Owner> implements OwnerTable {
        private final String query;

        OwnerRows(EntityManager manager, boolean join) {
            super(manager, Owner.class, Deletion.jpql(Queries.DELETE_VISITS_OF_OWNER),
                    Deletion.jpql(Queries.DELETE_PETS_OF_OWNER), Deletion.jpql(Queries.DELETE_OWNER));
            query = join ? Queries.OWNERS_NAMED_JOINED : Queries.OWNERS_NAMED;
        }

        @Override
        public List<Owner> all() {
            return findByPrefix("");
        }

        @Override
        public List<Owner> findByPrefix(String prefix) {
            return manager.createQuery(query, Owner.class)
                    .setParameter("prefix", OwnerTable.pattern(prefix))
                    .getResultList();
        }
    }

    private JpaRepositories() {}

    /** {@code join} reads lists of owners by one statement. */
    static Repositories of(Transactions transactions, EntityManager manager, boolean join) {
        return new DatabaseRepositories(
                transactions,
                new Rows<>(manager, PetType.class, Deletion.jpql(Queries.DELETE_VISITS_OF_TYPE),
                        Deletion.jpql(Queries.DELETE_PETS_OF_TYPE), Deletion.jpql(Queries.DELETE_TYPE)),
                new Rows<>(manager, Specialty.class, new Deletion(Queries.UNLINK_SPECIALTY, true),
                        Deletion.jpql(Queries.DELETE_SPECIALTY)),
                new Rows<>(manager, Vet.class, new Deletion(Queries.UNLINK_VET, true),
                        Deletion.jpql(Queries.DELETE_VET)),
                new OwnerRows(manager, join),
                new Rows<>(manager, Pet.class, Deletion.jpql(Queries.DELETE_VISITS_OF_PET),
                        Deletion.jpql(Queries.DELETE_PET)),
                new Rows<>(manager, Visit.class, Deletion.jpql(Queries.DELETE_VISIT)));
    }
}
