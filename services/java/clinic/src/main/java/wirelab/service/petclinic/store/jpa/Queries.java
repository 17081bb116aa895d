package wirelab.service.petclinic.store.jpa;

/**
 * Statements of JPQL that both ways to use JPA share. Deletions go around the persistence context: rows that a
 * loaded owner or pet refers to could not be removed within it.
 */
final class Queries {
    static final String OWNERS_NAMED = "select o from Owner o where o.lastName like :prefix escape '\\' order by o.id";
    static final String OWNERS_NAMED_JOINED = "select distinct o from Owner o left join fetch o.pets p"
            + " left join fetch p.type left join fetch p.visits where o.lastName like :prefix escape '\\' order by o.id";

    static final String DELETE_VISIT = "delete from Visit v where v.id = :id";
    static final String DELETE_VISITS_OF_PET = "delete from Visit v where v.pet.id = :id";
    static final String DELETE_VISITS_OF_OWNER =
            "delete from Visit v where v.pet.id in (select p.id from Pet p where p.owner.id = :id)";
    static final String DELETE_VISITS_OF_TYPE =
            "delete from Visit v where v.pet.id in (select p.id from Pet p where p.type.id = :id)";
    static final String DELETE_PET = "delete from Pet p where p.id = :id";
    static final String DELETE_PETS_OF_OWNER = "delete from Pet p where p.owner.id = :id";
    static final String DELETE_PETS_OF_TYPE = "delete from Pet p where p.type.id = :id";
    static final String DELETE_OWNER = "delete from Owner o where o.id = :id";
    static final String DELETE_TYPE = "delete from PetType t where t.id = :id";
    static final String DELETE_SPECIALTY = "delete from Specialty s where s.id = :id";
    static final String DELETE_VET = "delete from Vet v where v.id = :id";

    /** SQL: JPQL has no name for a join table. */
    static final String UNLINK_SPECIALTY = "delete from vet_specialties where specialty_id = :id";

    static final String UNLINK_VET = "delete from vet_specialties where vet_id = :id";

    private Queries() {}
}
