package wirelab.service.petclinic.store.jpa;

import com.zaxxer.hikari.HikariDataSource;
import jakarta.persistence.EntityManagerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.transaction.PlatformTransactionManager;
import wirelab.service.petclinic.store.Repositories;
import wirelab.service.petclinic.store.Transactions;

/** Rows through an EntityManager. */
@Configuration(proxyBeanMethods = false)
@Import(HibernateConfiguration.class)
public class JpaConfiguration {
    /** The tables. */
    @Bean
    Repositories repositories(
            PlatformTransactionManager transactionManager, HikariDataSource pool, EntityManagerFactory factory,
            wirelab.service.Configuration configuration) {
        return JpaRepositories.of(new Transactions(transactionManager, pool),
                SharedEntityManagerCreator.createSharedEntityManager(factory),
                configuration.options().fetch().equals("join"));
    }
}
