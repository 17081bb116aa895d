package wirelab.service.petclinic.store.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import wirelab.service.petclinic.store.DatabaseRepositories;
import wirelab.service.petclinic.store.Repositories;
import wirelab.service.petclinic.store.Transactions;

/** Rows through Spring's JdbcTemplate, in SQL. */
@Configuration(proxyBeanMethods = false)
public class JdbcConfiguration {
    /** The tables. */
    @Bean
    Repositories repositories(HikariDataSource pool, wirelab.service.Configuration configuration) {
        NamedParameterJdbcTemplate template = new NamedParameterJdbcTemplate(pool);
        return new DatabaseRepositories(
                new Transactions(new JdbcTransactionManager(pool), pool),
                NameRows.petTypes(template),
                NameRows.specialties(template),
                new VetRows(template),
                new OwnerRows(template, configuration.options().fetch().equals("join")),
                new PetRows(template),
                new VisitRows(template));
    }
}
