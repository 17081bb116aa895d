package wirelab.service.rest;

import java.nio.charset.StandardCharsets;
import java.util.List;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Exchanges;
import wirelab.service.contract.Model;
import wirelab.service.contract.message.TransferMessages.HelloReply;

/** Plain text: Hello alone. */
final class TextCodec implements Codec {
    @Override
    public String contentType() {
        return "text/plain;charset=utf-8";
    }

    @Override
    public List<String> mediaTypes() {
        return List.of("text/plain");
    }

    @Override
    public List<Exchange<?, ?>> exchanges(Model model) {
        return Exchanges.of(model).stream()
                .filter(exchange -> exchange.reply() == HelloReply.class)
                .toList();
    }

    @Override
    public Object read(byte[] bytes, Class<?> message) throws Malformed {
        throw new Malformed("no request is plain text");
    }

    @Override
    public byte[] write(Object message) {
        return error(((HelloReply) message).text);
    }

    @Override
    public byte[] error(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
