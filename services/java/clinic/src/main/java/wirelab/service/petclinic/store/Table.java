package wirelab.service.petclinic.store;

import java.util.List;

/** The rows of one kind, to be used within {@link Repositories#read} and {@link Repositories#write}. */
public interface Table<E> {
    /** All, in the order of their ids. */
    List<E> all();

    /** The row of that id; null where there is none. */
    E find(int id);

    /** Stores a new row, whose id it sets. */
    void insert(E row);

    /** Stores what has changed in a row that was found. */
    void update(E row);

    /** Deletes a row with those that cannot be without it; false where there is none. */
    boolean delete(int id);
}
