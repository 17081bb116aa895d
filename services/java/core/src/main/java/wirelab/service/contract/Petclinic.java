package wirelab.service.contract;

import java.util.List;

/**
 * The contract {@code petclinic}: its operations. What they do is in the module of that name, where the
 * libraries that keep its rows are.
 */
public final class Petclinic implements Model {
    private StorePool pool;
    private Runnable closing = () -> { };

    @Override
    public List<String> operations() {
        return List.of(
                "ListPetTypes", "GetPetType", "AddPetType", "UpdatePetType", "DeletePetType",
                "ListPets", "GetPet", "AddPet", "UpdatePet", "DeletePet",
                "ListOwners", "GetOwner", "AddOwner", "UpdateOwner", "DeleteOwner",
                "AddPetToOwner", "AddVisitToOwner", "GetOwnersPet",
                "ListSpecialties", "GetSpecialty", "AddSpecialty", "UpdateSpecialty", "DeleteSpecialty",
                "ListVets", "GetVet", "AddVet", "UpdateVet", "DeleteVet",
                "ListVisits", "GetVisit", "AddVisit", "UpdateVisit", "DeleteVisit");
    }

    /** Its rows are in a database, whose pool is to be closed at the end. */
    public synchronized void keeps(StorePool opened, Runnable close) {
        pool = opened;
        closing = close;
    }

    @Override
    public synchronized StorePool pool() {
        return pool;
    }

    @Override
    public synchronized void close() {
        closing.run();
    }
}
