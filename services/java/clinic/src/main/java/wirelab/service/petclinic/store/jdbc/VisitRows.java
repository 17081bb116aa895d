package wirelab.service.petclinic.store.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import wirelab.service.petclinic.entity.IsoDate;
import wirelab.service.petclinic.entity.Pet;
import wirelab.service.petclinic.entity.Visit;

/** Visits; of their pets only the ids. */
final class VisitRows extends JdbcRows<Visit> {
    /** Of a visit {@code r}, in the order of {@link #visit}. */
    static final String COLUMNS = "r.id, r.visit_date, r.description, r.pet_id";

    VisitRows(NamedParameterJdbcTemplate template) {
        super(template, "select " + COLUMNS + " from visits r",
                (result, at) -> {
                    Pet pet = new Pet();
                    pet.id = result.getInt(4);
                    return visit(result, 1, pet);
                },
                "delete from visits where id = :id");
    }

    /** The visit whose columns begin at {@code first}. */
    static Visit visit(ResultSet result, int first, Pet pet) throws SQLException {
        Visit visit = new Visit();
        visit.id = result.getInt(first);
        visit.date = IsoDate.parse(result.getString(first + 1));
        visit.description = result.getString(first + 2);
        visit.pet = pet;
        return visit;
    }

    @Override
    public void insert(Visit visit) {
        visit.id = insert("insert into visits (pet_id, visit_date, description) values (:pet, :date, :description)",
                fields(visit).addValue("pet", visit.pet.id));
    }

    @Override
    public void update(Visit visit) {
        template.update("update visits set visit_date = :date, description = :description where id = :id",
                fields(visit).addValue("id", visit.id));
    }

    private static MapSqlParameterSource fields(Visit visit) {
        return values("date", visit.date.toString()).addValue("description", visit.description);
    }
}
