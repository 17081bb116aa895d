package wirelab.service.petclinic.store.jpa;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.transaction.PlatformTransactionManager;
import wirelab.service.petclinic.store.Repositories;
import wirelab.service.petclinic.store.Transactions;

/** Rows through Spring Data JPA. */
@Configuration(proxyBeanMethods = false)
@Import(HibernateConfiguration.class)
@EnableJpaRepositories(considerNestedRepositories = true)
public class SpringDataConfiguration {
    /** The tables. */
    @Bean
    Repositories repositories(
            PlatformTransactionManager transactionManager, HikariDataSource pool, BeanFactory beans,
            wirelab.service.Configuration configuration) {
        return SpringDataRepositories.of(new Transactions(transactionManager, pool), beans,
                configuration.options().fetch().equals("join"));
    }
}
