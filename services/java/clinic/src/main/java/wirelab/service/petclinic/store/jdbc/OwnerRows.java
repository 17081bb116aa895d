package wirelab.service.petclinic.store.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.RowCallbackHandler;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import wirelab.service.petclinic.entity.Owner;
import wirelab.service.petclinic.entity.Pet;
import wirelab.service.petclinic.store.OwnerTable;

/** Owners with their pets and these with their visits. */
final class OwnerRows extends JdbcRows<Owner> implements OwnerTable {
    private static final String COLUMNS = "r.id, r.first_name, r.last_name, r.address, r.city, r.telephone";
    private static final int PET = 7;
    private static final int VISIT = 12;

    /** Rows of pets {@code p} with their types and each of their visits {@code v}. */
    private static final String PETS = PetRows.COLUMNS + ", " + VisitRows.COLUMNS.replace("r.", "v.")
            + " from owners r left join pets p on p.owner_id = r.id left join pettypes t on t.id = p.type_id"
            + " left join visits v on v.pet_id = p.id ";

    private static final String SELECT = "select " + COLUMNS + " from owners r";
    private static final String NAMED = " where r.last_name like :prefix escape '\\' order by r.id";
    private static final String JOINED = "select " + COLUMNS + ", " + PETS + NAMED;
    private static final String OF_OWNER = "select " + COLUMNS + ", " + PETS + " where r.id = :id";

    private final boolean join;

    OwnerRows(NamedParameterJdbcTemplate template, boolean join) {
        super(template, SELECT, OwnerRows::owner,
                "delete from visits where pet_id in (select id from pets where owner_id = :id)",
                "delete from pets where owner_id = :id",
                "delete from owners where id = :id");
        this.join = join;
    }

    private static Owner owner(ResultSet result, int at) throws SQLException {
        Owner owner = new Owner();
        owner.id = result.getInt(1);
        owner.firstName = result.getString(2);
        owner.lastName = result.getString(3);
        owner.address = result.getString(4);
        owner.city = result.getString(5);
        owner.telephone = result.getString(6);
        return owner;
    }

    /** Makes owners, their pets and visits of joined rows. */
    private static final class Joined implements RowCallbackHandler {
        private final Map<Integer, Owner> owners = new LinkedHashMap<>();
        private final Map<Integer, Pet> pets = new LinkedHashMap<>();

        @Override
        public void processRow(ResultSet result) throws SQLException {
            Owner owner = owners.get(result.getInt(1));
            if (owner == null) {
                owner = owner(result, 0);
                owners.put(owner.id, owner);
            }
            int id = result.getInt(PET);
            if (result.wasNull()) {
                return;
            }
            Pet pet = pets.get(id);
            if (pet == null) {
                pet = PetRows.pet(result, PET, owner);
                pets.put(id, pet);
                owner.pets.add(pet);
            }
            result.getInt(VISIT);
            if (!result.wasNull()) {
                pet.visits.add(VisitRows.visit(result, VISIT, pet));
            }
        }
    }

    @Override
    public List<Owner> all() {
        return findByPrefix("");
    }

    @Override
    public List<Owner> findByPrefix(String prefix) {
        Map<String, String> values = Map.of("prefix", OwnerTable.pattern(prefix));
        if (join) {
            Joined joined = new Joined();
            template.query(JOINED, values, joined);
            return new ArrayList<>(joined.owners.values());
        }
        List<Owner> owners = template.query(SELECT + NAMED, values, OwnerRows::owner);
        owners.forEach(this::complete);
        return owners;
    }

    @Override
    void complete(Owner owner) {
        Joined joined = new Joined();
        joined.owners.put(owner.id, owner);
        template.query(OF_OWNER, Map.of("id", owner.id), joined);
    }

    @Override
    public void insert(Owner owner) {
        owner.id = insert("insert into owners (first_name, last_name, address, city, telephone)"
                + " values (:firstName, :lastName, :address, :city, :telephone)", fields(owner));
    }

    @Override
    public void update(Owner owner) {
        template.update("update owners set first_name = :firstName, last_name = :lastName, address = :address,"
                + " city = :city, telephone = :telephone where id = :id", fields(owner));
    }

    private static MapSqlParameterSource fields(Owner owner) {
        return values("id", owner.id)
                .addValue("firstName", owner.firstName)
                .addValue("lastName", owner.lastName)
                .addValue("address", owner.address)
                .addValue("city", owner.city)
                .addValue("telephone", owner.telephone);
    }
}
