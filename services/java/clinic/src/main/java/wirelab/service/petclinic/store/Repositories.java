package wirelab.service.petclinic.store;

import java.util.function.Supplier;
import wirelab.service.petclinic.entity.Pet;
import wirelab.service.petclinic.entity.PetType;
import wirelab.service.petclinic.entity.Specialty;
import wirelab.service.petclinic.entity.Vet;
import wirelab.service.petclinic.entity.Visit;

/** The tables of the clinic, and the transactions in which they are used. */
public interface Repositories {
    /** Types of pets. */
    Table<PetType> petTypes();

    /** Specialties. */
    Table<Specialty> specialties();

    /** Vets. */
    Table<Vet> vets();

    /** Owners. */
    OwnerTable owners();

    /** Pets. */
    Table<Pet> pets();

    /** Visits. */
    Table<Visit> visits();

    /** A transaction that changes nothing. */
    <T> T read(Supplier<T> work);

    /** A transaction that may change rows, and changes none when it throws. */
    <T> T write(Supplier<T> work);
}
