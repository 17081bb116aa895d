package wirelab.service.petclinic.web;

import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Requests that reach no operation. */
@RestControllerAdvice
final class BadRequests {
    private final Answers answers;

    BadRequests(Answers answers) {
        this.answers = answers;
    }

    @ExceptionHandler
    ResponseEntity<Object> parameter(Answers.NoNumber error) {
        return answers.failed(HttpStatus.BAD_REQUEST, error.getMessage());
    }

    @ExceptionHandler
    ResponseEntity<Object> body(HttpMessageNotReadableException error) {
        return answers.failed(HttpStatus.BAD_REQUEST, "the body cannot be read");
    }
}
