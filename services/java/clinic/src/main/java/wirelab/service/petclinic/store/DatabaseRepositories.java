package wirelab.service.petclinic.store;

import java.util.function.Supplier;
import wirelab.service.petclinic.entity.Pet;
import wirelab.service.petclinic.entity.PetType;
import wirelab.service.petclinic.entity.Specialty;
import wirelab.service.petclinic.entity.Vet;
import wirelab.service.petclinic.entity.Visit;

/** The tables of a database, by one way to its rows. */
public record DatabaseRepositories(
        Transactions transactions,
        Table<PetType> petTypes,
        Table<Specialty> specialties,
        Table<Vet> vets,
        OwnerTable owners,
        Table<Pet> pets,
        Table<Visit> visits) implements Repositories {

    @Override
    public <T> T read(Supplier<T> work) {
        return transactions.read(work);
    }

    @Override
    public <T> T write(Supplier<T> work) {
        return transactions.write(work);
    }
}
