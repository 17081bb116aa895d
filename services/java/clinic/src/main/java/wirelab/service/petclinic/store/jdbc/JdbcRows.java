package wirelab.service.petclinic.store.jdbc;

import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.namedparam.SqlParameterSource;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.jdbc.support.KeyHolder;
import wirelab.service.petclinic.store.Table;

/** A table whose rows are read one by one; what belongs to them is read by statements of their own. */
abstract class JdbcRows<E> implements Table<E> {
    final NamedParameterJdbcTemplate template;
    private final String select;
    private final RowMapper<E> mapper;
    private final List<String> deletions;

    /**
     * {@code select} names the table {@code r}; the last of {@code deletions} is that of the row itself, and all
     * have its {@code :id}.
     */
    JdbcRows(NamedParameterJdbcTemplate template, String select, RowMapper<E> mapper, String... deletions) {
        this.template = template;
        this.select = select;
        this.mapper = mapper;
        this.deletions = List.of(deletions);
    }

    @Override
    public List<E> all() {
        List<E> rows = template.query(select + " order by r.id", mapper);
        rows.forEach(this::complete);
        return rows;
    }

    @Override
    public E find(int id) {
        List<E> rows = template.query(select + " where r.id = :id", Map.of("id", id), mapper);
        rows.forEach(this::complete);
        return rows.isEmpty() ? null : rows.get(0);
    }

    /** Reads what belongs to a row. */
    void complete(E row) {
        // Most rows are whole.
    }

    /** The id of the new row. */
    int insert(String statement, SqlParameterSource values) {
        KeyHolder key = new GeneratedKeyHolder();
        template.update(statement, values, key, new String[] {"id"});
        return key.getKey().intValue();
    }

    static MapSqlParameterSource values(String name, Object value) {
        return new MapSqlParameterSource(name, value);
    }

    @Override
    public boolean delete(int id) {
        int deleted = 0;
        for (String deletion : deletions) {
            deleted = template.update(deletion, Map.of("id", id));
        }
        return deleted > 0;
    }
}
