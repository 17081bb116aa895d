package wirelab.service.contract.message;

import jakarta.xml.bind.annotation.XmlRootElement;

/** What REST answers instead of a reply. */
@XmlRootElement(name = "Error")
public final class ErrorMessage {
    public String error = "";

    /** Without a text. */
    public ErrorMessage() {}

    /** With that text. */
    public ErrorMessage(String error) {
        this.error = error;
    }
}
