package wirelab.service.petclinic.web;

import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.HttpMediaTypeNotAcceptableException;
import org.springframework.web.HttpMediaTypeNotSupportedException;
import org.springframework.web.HttpRequestMethodNotSupportedException;
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
    ResponseEntity<Object> parameter(Answers.WrongParameter error) {
        return answers.answerFailure(Statuses.INVALID, error);
    }

    @ExceptionHandler
    ResponseEntity<Object> method(HttpRequestMethodNotSupportedException error) {
        ResponseEntity<Object> reply = answers.answerFailure(Statuses.WRONG_METHOD, error);
        return ResponseEntity.status(reply.getStatusCode())
                .headers(reply.getHeaders())
                .headers(error.getHeaders())
                .body(reply.getBody());
    }

    @ExceptionHandler
    ResponseEntity<Object> accept(HttpMediaTypeNotAcceptableException error) {
        return answers.answerFailure(Statuses.NOT_ACCEPTABLE, error);
    }

    @ExceptionHandler
    ResponseEntity<Object> contentType(HttpMediaTypeNotSupportedException error) {
        return answers.answerFailure(Statuses.WRONG_TYPE, error);
    }

    @ExceptionHandler
    ResponseEntity<Object> body(HttpMessageNotReadableException error) {
        return answers.invalid(error);
    }
}
