package wirelab.service;

import java.util.ServiceLoader;
import wirelab.service.contract.RecordStore;

/** How the module {@code store} opens databases; found by {@link ServiceLoader}. */
public interface Databases {
    /** The module on the class path, where a stack has databases. */
    static Databases loadInstalled() {
        return ServiceLoader.load(Databases.class)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        "no databases are on the class path: add module store, or correct stores in service.json"));
    }

    /** Connects and creates the tables of {@code records} again; refuses a database that cannot be used. */
    RecordStore openRecords(Configuration.Database database) throws Refusal;
}
