package wirelab.service.petclinic.store.jpa;

import com.zaxxer.hikari.HikariDataSource;
import jakarta.persistence.EntityManagerFactory;
import java.util.Map;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.PlatformTransactionManager;
import wirelab.service.petclinic.entity.Owner;

/** JPA by Hibernate. */
@Configuration(proxyBeanMethods = false)
class HibernateConfiguration {
    private static final Map<String, String> DIALECTS = Map.of(
            "h2", "org.hibernate.dialect.H2Dialect",
            "hsqldb", "org.hibernate.dialect.HSQLDialect",
            "postgres", "org.hibernate.dialect.PostgreSQLDialect",
            "sqlite", "org.hibernate.community.dialect.SQLiteDialect");

    @Bean
    LocalContainerEntityManagerFactoryBean entityManagerFactory(
            HikariDataSource pool, wirelab.service.Configuration configuration) {
        LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
        factory.setDataSource(pool);
        factory.setPackagesToScan(Owner.class.getPackageName());
        factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
        factory.setJpaPropertyMap(Map.of(
                "hibernate.dialect", DIALECTS.get(configuration.store().database().kind()),
                "hibernate.hbm2ddl.auto", "none",
                // Requests are validated before they become entities, or not at all.
                "jakarta.persistence.validation.mode", "none"));
        return factory;
    }

    @Bean
    PlatformTransactionManager transactionManager(EntityManagerFactory factory) {
        return new JpaTransactionManager(factory);
    }
}
