package wirelab.service.petclinic.openapi;

import io.swagger.v3.core.converter.ModelConverters;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.headers.Header;
import io.swagger.v3.oas.models.media.ArraySchema;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.IntegerSchema;
import io.swagger.v3.oas.models.media.MediaType;
import io.swagger.v3.oas.models.media.ObjectSchema;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.media.StringSchema;
import io.swagger.v3.oas.models.parameters.Parameter;
import io.swagger.v3.oas.models.parameters.RequestBody;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.responses.ApiResponses;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.springframework.http.HttpStatus;
import wirelab.service.petclinic.message.Dtos;
import wirelab.service.petclinic.web.Statuses;

/**
 * Bodies of the operations by status. Controllers take bytes and give objects, because the codec reads and
 * writes them: springdoc cannot see which. Schemas come from the data transfer objects and their constraints.
 */
final class Bodies {
    /** What an operation reads and writes, by the kind of row in its name. */
    private record Kind(String name, Class<?> fields, Class<?> row) {}

    /** The longer names first: a PetType is not a Pet. */
    private static final List<Kind> KINDS = List.of(
            new Kind("PetType", Dtos.NameFields.class, Dtos.PetTypeDto.class),
            new Kind("Special", Dtos.NameFields.class, Dtos.SpecialtyDto.class),
            new Kind("Vet", Dtos.VetFields.class, Dtos.VetDto.class),
            new Kind("Visit", Dtos.VisitFields.class, Dtos.VisitDto.class),
            new Kind("Pet", Dtos.PetFields.class, Dtos.PetDto.class),
            new Kind("Owner", Dtos.OwnerFields.class, Dtos.OwnerDto.class));

    /** Fields that only one operation of their kind of row reads. */
    private static final Map<String, String> ONLY_IN = Map.of("id", "addPetType", "ownerId", "addPet", "petId", "addVisit");

    private Bodies() {}

    private static Kind kind(String operation) {
        // GetOwnersPet is about a pet.
        String name = operation.replace("OwnersPet", "Pet");
        return KINDS.stream().filter(kind -> name.contains(kind.name())).findFirst().orElseThrow();
    }

    /** Completes what springdoc has read from a controller. */
    static Operation describe(Operation operation) {
        String name = operation.getOperationId();
        Kind kind = kind(name);
        boolean hasBody = operation.getRequestBody() != null;
        List<Parameter> parameters = operation.getParameters() == null ? List.of() : operation.getParameters();
        boolean hasId = parameters.stream().anyMatch(each -> each.getIn().equals("path"));
        // The controllers parse them, so that nothing but decimal digits passes.
        parameters.stream().filter(each -> each.getIn().equals("path")).forEach(each -> each.schema(new IntegerSchema()));
        if (hasBody) {
            operation.setRequestBody(new RequestBody().required(true).content(content(request(name, kind))));
        }
        ApiResponses responses = new ApiResponses();
        if (name.startsWith("list")) {
            add(responses, Statuses.FOUND, reply("All rows.", new ArraySchema().items(reference(kind.row()))));
        } else if (name.startsWith("get")) {
            add(responses, Statuses.FOUND, reply("The row.", reference(kind.row())));
        } else if (name.equals("addPet")) {
            add(responses, Statuses.ADDED, reply("The row.", reference(kind.row())));
        } else if (name.startsWith("add")) {
            add(responses, Statuses.CREATED, reply("The new row.", reference(kind.row()))
                    .addHeaderObject("Location", header("Its path.", true)));
        } else {
            add(responses, Statuses.DONE, new ApiResponse().description("Done."));
        }
        if (hasBody || !parameters.isEmpty()) {
            ApiResponse invalid = error("The body or a parameter is invalid.");
            add(responses, Statuses.INVALID, hasBody
                    ? invalid.addHeaderObject(Statuses.ERRORS, header("What is wrong with the body.", !hasId))
                    : invalid);
        }
        if (hasId || name.startsWith("list")) {
            add(responses, Statuses.NO_ROW, new ApiResponse().description("There is no such row."));
        }
        add(responses, Statuses.NOT_ACCEPTABLE, error("Accept excludes JSON."));
        if (hasBody) {
            add(responses, Statuses.WRONG_TYPE, error("The body is not JSON."));
        }
        add(responses, Statuses.STORE_UNAVAILABLE, error("The database is unavailable."));
        operation.setResponses(responses);
        return operation;
    }

    private static void add(ApiResponses to, HttpStatus status, ApiResponse response) {
        to.addApiResponse(String.valueOf(status.value()), response);
    }

    private static Header header(String description, boolean required) {
        return new Header().description(description).required(required).schema(new StringSchema());
    }

    private static ApiResponse reply(String description, Schema<?> schema) {
        return new ApiResponse().description(description).content(content(schema));
    }

    private static ApiResponse error(String description) {
        return reply(description, reference(Dtos.ErrorInfo.class));
    }

    private static Content content(Schema<?> schema) {
        return new Content().addMediaType("application/json", new MediaType().schema(schema));
    }

    private static Schema<?> reference(Class<?> message) {
        return new Schema<>().$ref("#/components/schemas/" + message.getSimpleName());
    }

    private static Schema<?> request(String operation, Kind kind) {
        for (Map.Entry<String, String> only : ONLY_IN.entrySet()) {
            if (only.getValue().equals(operation)) {
                IntegerSchema number = new IntegerSchema();
                if (only.getKey().equals("id")) {
                    // A new row that already has an id is refused.
                    number.setEnum(Arrays.asList(0, null));
                    number.setNullable(true);
                }
                Schema<?> own = new ObjectSchema().addProperty(only.getKey(), number);
                return new Schema<>().allOf(List.of(reference(kind.fields()), own));
            }
        }
        return reference(kind.fields());
    }

    /** Adds the schemas that {@link #describe} refers to. */
    static void addSchemas(OpenAPI document) {
        ModelConverters converters = ModelConverters.getInstance();
        List<Class<?>> messages = new ArrayList<>(List.of(Dtos.ErrorInfo.class));
        KINDS.forEach(kind -> messages.addAll(List.of(kind.fields(), kind.row())));
        for (Class<?> message : messages) {
            converters.readAll(message).forEach(document.getComponents()::addSchemas);
        }
        document.getComponents().getSchemas().forEach(Bodies::complete);
    }

    /** What annotations do not say. */
    private static void complete(String name, Schema<?> schema) {
        boolean isRequest = name.endsWith("Fields");
        if (isRequest) {
            ONLY_IN.keySet().forEach(schema.getProperties()::remove);
        } else {
            schema.setRequired(List.copyOf(schema.getProperties().keySet()));
        }
        schema.getProperties().forEach((field, of) -> {
            if (field.equals("date") || field.equals("birthDate")) {
                of.setFormat("date");
            }
            if (of.getPattern() != null) {
                // Bean Validation wants all of a text to match, JSON Schema any part of it.
                of.setPattern("^" + of.getPattern() + "$");
            }
            if (isRequest && of instanceof ArraySchema) {
                of.setNullable(true);
            }
        });
    }
}
