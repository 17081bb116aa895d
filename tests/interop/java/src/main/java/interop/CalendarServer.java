package interop;

import jakarta.jws.WebService;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import interop.calendar.BookReply;
import interop.calendar.BookRequest;
import interop.calendar.Calendar;
import interop.calendar.DeployReply;
import interop.calendar.DeployRequest;
import interop.calendar.EntriesReply;
import interop.calendar.EntriesRequest;

/** The contract {@code calendar}, as far as documents and bookings go: it keeps nothing. */
@WebService(
    endpointInterface = "interop.calendar.Calendar",
    serviceName = "CalendarService",
    portName = "Calendar",
    targetNamespace = "urn:wirelab:calendar:v1")
public class CalendarServer implements Calendar {
  private final String soap;

  CalendarServer(String soap) {
    this.soap = soap;
  }

  @Override
  public DeployReply deploy(DeployRequest request) {
    byte[] document = request.getDocument().getBytes(StandardCharsets.UTF_8);
    if (document.length == 0) {
      throw Refusal.of(soap, "document must not be empty");
    }
    DeployReply reply = new DeployReply();
    reply.setStatus("deployed " + HexFormat.of().formatHex(sha256(document)).substring(0, 49));
    return reply;
  }

  @Override
  public BookReply book(BookRequest request) {
    BookReply reply = new BookReply();
    reply.setNumber((request.getDay() - 1) * 48 + request.getSlot());
    reply.setOwner(request.getOwner());
    reply.setTitle(request.getTitle());
    return reply;
  }

  @Override
  public EntriesReply entries(EntriesRequest request) {
    return new EntriesReply();
  }

  private static byte[] sha256(byte[] data) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(data);
    } catch (NoSuchAlgorithmException error) {
      throw new IllegalStateException(error);
    }
  }
}
