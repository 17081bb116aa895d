package wirelab.service.petclinic.store;

import java.util.List;
import wirelab.service.petclinic.entity.Owner;

/** The owners. */
public interface OwnerTable extends Table<Owner> {
    /** Those whose last name begins so, with their pets and visits, in the order of their ids. */
    List<Owner> findByPrefix(String prefix);

    /** The pattern of LIKE, with backslash as its escape character, that a text begins with. */
    static String pattern(String prefix) {
        return prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%";
    }

    @Override
    default List<Owner> all() {
        return findByPrefix("");
    }
}
