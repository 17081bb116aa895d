package wirelab.service.petclinic.store;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import wirelab.service.petclinic.ClinicError;
import wirelab.service.petclinic.Seed;
import wirelab.service.petclinic.entity.IsoDate;
import wirelab.service.petclinic.entity.Owner;
import wirelab.service.petclinic.entity.Pet;
import wirelab.service.petclinic.entity.PetType;
import wirelab.service.petclinic.entity.Specialty;
import wirelab.service.petclinic.entity.Vet;
import wirelab.service.petclinic.entity.Visit;

/** The tables without a database: the entities themselves, under a lock for many readers or one writer. */
public final class MemoryRepositories implements Repositories {
    private static final int ROWS_MAX = 1_000_000;

    private static class Rows<E> implements Table<E> {
        private final TreeMap<Integer, E> rows = new TreeMap<>();
        private final BiConsumer<E, Integer> numbered;
        private final Consumer<E> linked;
        private final Consumer<E> unlinked;
        private int last;

        Rows(BiConsumer<E, Integer> numbered, Consumer<E> linked, Consumer<E> unlinked) {
            this.numbered = numbered;
            this.linked = linked;
            this.unlinked = unlinked;
        }

        @Override
        public List<E> all() {
            return new ArrayList<>(rows.values());
        }

        @Override
        public E find(int id) {
            return rows.get(id);
        }

        @Override
        public void insert(E row) {
            if (rows.size() >= ROWS_MAX || last == Integer.MAX_VALUE) {
                throw ClinicError.invalid();
            }
            last++;
            numbered.accept(row, last);
            rows.put(last, row);
            linked.accept(row);
        }

        @Override
        public void update(E row) {
            // The row that was found is the stored one.
        }

        @Override
        public boolean delete(int id) {
            E row = rows.remove(id);
            if (row != null) {
                unlinked.accept(row);
            }
            return row != null;
        }
    }

    private static final class OwnerRows extends Rows<Owner> implements OwnerTable {
        OwnerRows(Consumer<Owner> unlinked) {
            super((row, id) -> row.id = id, row -> { }, unlinked);
        }

        @Override
        public List<Owner> all() {
            return super.all();
        }

        @Override
        public List<Owner> findByPrefix(String prefix) {
            return super.all().stream().filter(owner -> owner.lastName.startsWith(prefix)).toList();
        }
    }

    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final Rows<Visit> visits = new Rows<>(
            (row, id) -> row.id = id, row -> row.pet.visits.add(row), row -> row.pet.visits.remove(row));
    private final Rows<Pet> pets = new Rows<>((row, id) -> row.id = id, row -> row.owner.pets.add(row), row -> {
        List.copyOf(row.visits).forEach(visit -> visits.delete(visit.id));
        row.owner.pets.remove(row);
    });
    private final OwnerRows owners =
            new OwnerRows(row -> List.copyOf(row.pets).forEach(pet -> pets.delete(pet.id)));
    private final Rows<PetType> petTypes = new Rows<>((row, id) -> row.id = id, row -> { }, row -> pets.all().stream()
            .filter(pet -> pet.type == row)
            .forEach(pet -> pets.delete(pet.id)));
    private final Rows<Vet> vets = new Rows<>((row, id) -> row.id = id, row -> { }, row -> { });
    private final Rows<Specialty> specialties = new Rows<>((row, id) -> row.id = id, row -> { },
            row -> vets.all().forEach(vet -> vet.specialties.remove(row)));

    /** With the rows at the start. */
    public MemoryRepositories() {
        Seed.PET_TYPES.forEach(name -> petTypes.insert(new PetType(null, name)));
        Seed.SPECIALTIES.forEach(name -> specialties.insert(new Specialty(null, name)));
        for (Seed.VetRow row : Seed.VETS) {
            Vet vet = new Vet();
            vet.firstName = row.firstName();
            vet.lastName = row.lastName();
            row.specialties().forEach(id -> vet.specialties.add(specialties.find(id)));
            vets.insert(vet);
        }
        for (List<String> row : Seed.OWNERS) {
            Owner owner = new Owner();
            owner.firstName = row.get(0);
            owner.lastName = row.get(1);
            owner.address = row.get(2);
            owner.city = row.get(3);
            owner.telephone = row.get(4);
            owners.insert(owner);
        }
        for (Seed.PetRow row : Seed.PETS) {
            Pet pet = new Pet();
            pet.name = row.name();
            pet.birthDate = IsoDate.parse(row.birthDate());
            pet.type = petTypes.find(row.type());
            pet.owner = owners.find(row.owner());
            pets.insert(pet);
        }
        for (Seed.VisitRow row : Seed.VISITS) {
            Visit visit = new Visit();
            visit.pet = pets.find(row.pet());
            visit.date = IsoDate.parse(row.date());
            visit.description = row.description();
            visits.insert(visit);
        }
    }

    @Override
    public Table<PetType> petTypes() {
        return petTypes;
    }

    @Override
    public Table<Specialty> specialties() {
        return specialties;
    }

    @Override
    public Table<Vet> vets() {
        return vets;
    }

    @Override
    public OwnerTable owners() {
        return owners;
    }

    @Override
    public Table<Pet> pets() {
        return pets;
    }

    @Override
    public Table<Visit> visits() {
        return visits;
    }

    @Override
    public <T> T read(Supplier<T> work) {
        return runLocked(lock.readLock(), work);
    }

    @Override
    public <T> T write(Supplier<T> work) {
        return runLocked(lock.writeLock(), work);
    }

    private static <T> T runLocked(Lock held, Supplier<T> work) {
        held.lock();
        try {
            return work.get();
        } finally {
            held.unlock();
        }
    }
}
