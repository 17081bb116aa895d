package wirelab.service.petclinic.store.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import wirelab.service.petclinic.entity.IsoDate;
import wirelab.service.petclinic.entity.Owner;
import wirelab.service.petclinic.entity.Pet;
import wirelab.service.petclinic.entity.PetType;

/** Pets with their types and visits; of their owners only the ids. */
final class PetRows extends JdbcRows<Pet> {
    /** Of a pet {@code p} and its type {@code t}, in the order of {@link #pet}. */
    static final String COLUMNS = "p.id, p.name, p.birth_date, t.id, t.name";

    PetRows(NamedParameterJdbcTemplate template) {
        super(template,
                "select " + COLUMNS.replace("p.", "r.") + ", r.owner_id from pets r join pettypes t on t.id = r.type_id",
                (result, at) -> {
                    Owner owner = new Owner();
                    owner.id = result.getInt(6);
                    return pet(result, 1, owner);
                },
                "delete from visits where pet_id = :id",
                "delete from pets where id = :id");
    }

    /** The pet whose columns begin at {@code first}. */
    static Pet pet(ResultSet result, int first, Owner owner) throws SQLException {
        Pet pet = new Pet();
        pet.id = result.getInt(first);
        pet.name = result.getString(first + 1);
        pet.birthDate = IsoDate.parse(result.getString(first + 2));
        pet.type = new PetType(result.getInt(first + 3), result.getString(first + 4));
        pet.owner = owner;
        return pet;
    }

    @Override
    void complete(Pet pet) {
        pet.visits.addAll(template.query(
                "select " + VisitRows.COLUMNS + " from visits r where r.pet_id = :id",
                Map.of("id", pet.id),
                (result, at) -> VisitRows.visit(result, 1, pet)));
    }

    @Override
    public void insert(Pet pet) {
        pet.id = insert("insert into pets (name, birth_date, type_id, owner_id) values (:name, :date, :type, :owner)",
                fields(pet).addValue("owner", pet.owner.id));
    }

    @Override
    public void update(Pet pet) {
        template.update("update pets set name = :name, birth_date = :date, type_id = :type where id = :id",
                fields(pet).addValue("id", pet.id));
    }

    private static MapSqlParameterSource fields(Pet pet) {
        return values("name", pet.name).addValue("date", pet.birthDate.toString()).addValue("type", pet.type.id);
    }
}
