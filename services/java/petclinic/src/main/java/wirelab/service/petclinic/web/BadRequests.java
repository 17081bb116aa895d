package wirelab.service.petclinic.web;

import org.springframework.http.HttpStatus;
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
        return answers.failed(HttpStatus.BAD_REQUEST, error);
    }

    @ExceptionHandler
    ResponseEntity<Object> method(HttpRequestMethodNotSupportedException error) {
        ResponseEntity<Object> reply = answers.failed(HttpStatus.METHOD_NOT_ALLOWED, error);
        return ResponseEntity.status(reply.getStatusCode())
                .headers(reply.getHeaders())
                .headers(error.getHeaders())
                .body(reply.getBody());
    }

    @ExceptionHandler
    ResponseEntity<Object> accept(HttpMediaTypeNotAcceptableException error) {
        return answers.failed(HttpStatus.NOT_ACCEPTABLE, error);
    }

    @ExceptionHandler
    ResponseEntity<Object> contentType(HttpMediaTypeNotSupportedException error) {
        return answers.failed(HttpStatus.UNSUPPORTED_MEDIA_TYPE, error);
    }

    @ExceptionHandler
    ResponseEntity<Object> body(HttpMessageNotReadableException error) {
        return answers.invalid(error);
    }
}
