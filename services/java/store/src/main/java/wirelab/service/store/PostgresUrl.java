package wirelab.service.store;

import com.zaxxer.hikari.HikariConfig;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import wirelab.service.Refusal;

/**
 * A URL of PostgreSQL as libpq reads it (its documentation, section 34.1.1.2); a host that begins with a slash
 * is the folder of a Unix socket.
 */
record PostgresUrl(String user, String password, String host, int port, String database) {
    private static final Pattern FORM = Pattern.compile(
            "postgres(?:ql)?://(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?"
                    + "(?<host>\\[[^\\]]*\\]|[^:/?]*)(?::(?<port>[0-9]{1,5}))?/(?<database>[^?]*)(?:\\?host=(?<folder>[^&]*))?");
    private static final int PORT = 5432;

    static PostgresUrl parse(String url) throws Refusal {
        Matcher parts = FORM.matcher(url);
        if (!parts.matches()) {
            throw new Refusal("store.url", "\"" + url + "\" is not a URL of PostgreSQL that this service reads",
                    "use postgres://user@/database?host=/socket/folder or"
                            + " postgres://user:password@127.0.0.1:5432/database");
        }
        String host = parts.group("folder") == null ? decode(parts.group("host")) : decode(parts.group("folder"));
        String port = parts.group("port");
        return new PostgresUrl(decode(parts.group("user")), decode(parts.group("password")),
                host == null || host.isEmpty() ? "localhost" : host, port == null ? PORT : Integer.parseInt(port),
                decode(parts.group("database")));
    }

    private static String decode(String part) {
        return part == null ? null : URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    void configure(HikariConfig config, int timeoutMs) {
        boolean unix = host.startsWith("/");
        config.setJdbcUrl("jdbc:postgresql://" + (unix ? "localhost" : host) + ":" + port + "/"
                + URLEncoder.encode(database, StandardCharsets.UTF_8));
        config.setUsername(user);
        config.setPassword(password);
        if (unix) {
            config.addDataSourceProperty("socketFactory", "org.newsclub.net.unix.AFUNIXSocketFactory$FactoryArg");
            config.addDataSourceProperty("socketFactoryArg", host + "/.s.PGSQL." + port);
            config.addDataSourceProperty("sslmode", "disable");
        }
        config.addDataSourceProperty("gssEncMode", "disable");
        // The server's own timer, in milliseconds; the socket's is for a server that is gone. The driver counts
        // it in whole seconds, and with one more the server's timer ends first wherever there is a server.
        config.addDataSourceProperty("options", "-c statement_timeout=" + timeoutMs);
        String seconds = String.valueOf((timeoutMs + 999) / 1000 + 1);
        config.addDataSourceProperty("connectTimeout", seconds);
        config.addDataSourceProperty("socketTimeout", seconds);
    }
}
