package wirelab.service.petclinic.store.jdbc;

import java.util.Map;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.namedparam.SqlParameterSource;
import wirelab.service.petclinic.entity.Specialty;
import wirelab.service.petclinic.entity.Vet;

/** Vets with their specialties. */
final class VetRows extends JdbcRows<Vet> {
    private static final String UNLINK = "delete from vet_specialties where vet_id = :id";

    VetRows(NamedParameterJdbcTemplate template) {
        super(template, "select r.id, r.first_name, r.last_name from vets r",
                (result, at) -> {
                    Vet vet = new Vet();
                    vet.id = result.getInt(1);
                    vet.firstName = result.getString(2);
                    vet.lastName = result.getString(3);
                    return vet;
                },
                UNLINK,
                "delete from vets where id = :id");
    }

    @Override
    void complete(Vet vet) {
        vet.specialties.addAll(template.query(
                "select s.id, s.name from specialties s join vet_specialties l on l.specialty_id = s.id"
                        + " where l.vet_id = :id",
                Map.of("id", vet.id),
                (result, at) -> new Specialty(result.getInt(1), result.getString(2))));
    }

    @Override
    public void insert(Vet vet) {
        vet.id = insert("insert into vets (first_name, last_name) values (:firstName, :lastName)", fields(vet));
        link(vet);
    }

    @Override
    public void update(Vet vet) {
        template.update("update vets set first_name = :firstName, last_name = :lastName where id = :id", fields(vet));
        template.update(UNLINK, Map.of("id", vet.id));
        link(vet);
    }

    private void link(Vet vet) {
        if (!vet.specialties.isEmpty()) {
            template.batchUpdate("insert into vet_specialties (vet_id, specialty_id) values (:vet, :specialty)",
                    vet.specialties.stream()
                            .map(each -> values("vet", vet.id).addValue("specialty", each.id))
                            .toArray(SqlParameterSource[]::new));
        }
    }

    private static MapSqlParameterSource fields(Vet vet) {
        return values("id", vet.id).addValue("firstName", vet.firstName).addValue("lastName", vet.lastName);
    }
}
