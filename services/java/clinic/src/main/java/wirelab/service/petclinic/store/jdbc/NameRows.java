package wirelab.service.petclinic.store.jdbc;

import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import wirelab.service.petclinic.entity.PetType;
import wirelab.service.petclinic.entity.Specialty;

/** Types and specialties, which have a name alone. */
final class NameRows<E> extends JdbcRows<E> {
    private final String table;
    private final Function<E, Integer> id;
    private final Function<E, String> name;
    private final BiConsumer<E, Integer> numbered;

    private NameRows(
            NamedParameterJdbcTemplate template, String table, BiFunction<Integer, String, E> row,
            Function<E, Integer> id, Function<E, String> name, BiConsumer<E, Integer> numbered, String... deletions) {
        super(template, "select r.id, r.name from " + table + " r",
                (result, at) -> row.apply(result.getInt(1), result.getString(2)), deletions);
        this.table = table;
        this.id = id;
        this.name = name;
        this.numbered = numbered;
    }

    static NameRows<PetType> petTypes(NamedParameterJdbcTemplate template) {
        return new NameRows<>(template, "pettypes", PetType::new, row -> row.id, row -> row.name,
                (row, id) -> row.id = id,
                "delete from visits where pet_id in (select id from pets where type_id = :id)",
                "delete from pets where type_id = :id",
                "delete from pettypes where id = :id");
    }

    static NameRows<Specialty> specialties(NamedParameterJdbcTemplate template) {
        return new NameRows<>(template, "specialties", Specialty::new, row -> row.id, row -> row.name,
                (row, id) -> row.id = id,
                "delete from vet_specialties where specialty_id = :id",
                "delete from specialties where id = :id");
    }

    @Override
    public void insert(E row) {
        numbered.accept(row,
                insert("insert into " + table + " (name) values (:name)", values("name", name.apply(row))));
    }

    @Override
    public void update(E row) {
        template.update("update " + table + " set name = :name where id = :id",
                values("name", name.apply(row)).addValue("id", id.apply(row)));
    }
}
